-- Names and topics are found in English only: graphs of other languages are made anew, of speakers alone.
delete from graph_builds b using sessions s
where s.id = b.session_id and split_part(lower(s.language), '-', 1) not in ('en', '');

-- Full-text search. The index is derived by the database from the one place
-- that holds words, so that whatever erases or redacts these erases it too.

-- The dictionary for a BCP 47 tag: by its language, `simple` where there is none.
create function search_dictionary(language text) returns regconfig language sql immutable as $$
  select case split_part(lower(language), '-', 1)
    when 'ar' then 'pg_catalog.arabic'::regconfig
    when 'ca' then 'pg_catalog.catalan'::regconfig
    when 'da' then 'pg_catalog.danish'::regconfig
    when 'de' then 'pg_catalog.german'::regconfig
    when 'el' then 'pg_catalog.greek'::regconfig
    when 'en' then 'pg_catalog.english'::regconfig
    when 'es' then 'pg_catalog.spanish'::regconfig
    when 'eu' then 'pg_catalog.basque'::regconfig
    when 'fi' then 'pg_catalog.finnish'::regconfig
    when 'fr' then 'pg_catalog.french'::regconfig
    when 'ga' then 'pg_catalog.irish'::regconfig
    when 'hi' then 'pg_catalog.hindi'::regconfig
    when 'hu' then 'pg_catalog.hungarian'::regconfig
    when 'hy' then 'pg_catalog.armenian'::regconfig
    when 'id' then 'pg_catalog.indonesian'::regconfig
    when 'it' then 'pg_catalog.italian'::regconfig
    when 'lt' then 'pg_catalog.lithuanian'::regconfig
    when 'ne' then 'pg_catalog.nepali'::regconfig
    when 'nl' then 'pg_catalog.dutch'::regconfig
    when 'no' then 'pg_catalog.norwegian'::regconfig
    when 'nb' then 'pg_catalog.norwegian'::regconfig
    when 'pt' then 'pg_catalog.portuguese'::regconfig
    when 'ro' then 'pg_catalog.romanian'::regconfig
    when 'ru' then 'pg_catalog.russian'::regconfig
    when 'sr' then 'pg_catalog.serbian'::regconfig
    when 'sv' then 'pg_catalog.swedish'::regconfig
    when 'ta' then 'pg_catalog.tamil'::regconfig
    when 'tr' then 'pg_catalog.turkish'::regconfig
    when 'yi' then 'pg_catalog.yiddish'::regconfig
    else 'pg_catalog.simple'::regconfig
  end
$$;

-- The session's, copied, since a generated column sees its own row only.
alter table segments add column language text not null default 'en';
update segments g set language = s.language from sessions s where s.id = g.session_id;

create function segment_language() returns trigger language plpgsql as $$
begin
  select s.language into new.language from sessions s where s.id = new.session_id;
  new.language := coalesce(new.language, 'en');
  return new;
end
$$;
create trigger segments_language before insert on segments
  for each row execute function segment_language();

alter table segments add column search tsvector not null generated always as (
  case
    when redacted or text like '[redacted-%' then ''::tsvector
    else to_tsvector(search_dictionary(language), text)
  end
) stored;
create index segments_search on segments using gin (search);

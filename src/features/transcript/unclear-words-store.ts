import { type FragmentSqlToken as Fragment, sql } from "slonik";

/** Places, counted from 0, of the unclear words in a column of words; most segments have none. */
export function unclearWords(words: Fragment): Fragment {
  return sql.fragment`case when jsonb_path_exists(${words}, '$[*] ? (@.unclear == true)') then (
    select array_agg((said.place - 1)::int order by said.place)
    from jsonb_array_elements(${words}) with ordinality as said (word, place)
    where said.word -> 'unclear' = 'true'::jsonb
  ) else array[]::int[] end`;
}

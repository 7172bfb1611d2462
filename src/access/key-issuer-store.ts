import { sql } from "slonik";

/** SQL condition: the maker of the secret `s` of the key `k` has the right to it. */
export const ISSUER_IS_ACTIVE = sql.fragment`exists (
  select from users u
  where u.id = s.made_by and u.disabled_at is null and u.erased_at is null
    and case s.made_as when 'admin' then u.role = 'admin' else exists (
      select from workspace_members m
      where m.workspace_id = k.workspace_id and m.user_id = u.id and m.role = 'owner') end)`;

import { type FragmentSqlToken as Fragment, sql } from "slonik";
import { ISSUER_IS_ACTIVE } from "../../access/key-issuer-store.ts";

/**
 * SQL condition: whoever made the webhook `w` still may. An administrator may in every workspace; a
 * service key may while one of its secrets is valid.
 */
export const WEBHOOK_IS_ACTIVE: Fragment = sql.fragment`(
  exists (
    select from users u
    where u.id = w.made_by and u.disabled_at is null and u.erased_at is null
      and (u.role = 'admin' or exists (
        select from workspace_members m
        where m.workspace_id = w.workspace_id and m.user_id = u.id and m.role = 'owner')))
  or exists (
    select from service_keys k join service_key_secrets s on s.key_id = k.id
    where k.id = w.made_by_key and k.revoked_at is null and s.expires_at > now()
      and ${ISSUER_IS_ACTIVE}))`;

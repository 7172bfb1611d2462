import { useEffect, useState } from "preact/hooks";
import { account } from "../../api/account.ts";
import { call } from "../../api/client.ts";

/** Asked for once each; accounts have few names. */
const known = new Map<string, Promise<string>>();

/** Whose session it is, for administrators, who see those of others; "" where that is not to be told. */
export function useOwnerName(ownerId: string | undefined): string {
  const who = account.value;
  const isTold =
    who?.kind === "user" && who.role === "admin" && ownerId !== undefined && ownerId !== who.id;
  const [name, setName] = useState("");
  useEffect(() => {
    if (!isTold) return undefined;
    let isWanted = true;
    const asked = known.get(ownerId) ?? nameOf(ownerId);
    known.set(ownerId, asked);
    void asked.then((found) => isWanted && setName(found));
    return () => {
      isWanted = false;
    };
  }, [isTold, ownerId]);
  return isTold ? name : "";
}

async function nameOf(id: string): Promise<string> {
  const params = { path: { id } };
  const found = await call((api) => api.GET("/users/{id}", { params })).catch(() => undefined);
  return found?.name || found?.email || "somebody else";
}

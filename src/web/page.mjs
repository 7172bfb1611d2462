const at = (id) => document.getElementById(id);
const api = new URL("api", document.baseURI).href;

/** Status and content of an answer; status 0 when none came. */
async function call(path, body, token) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  const post = body && { method: "POST", body: JSON.stringify(body) };
  try {
    const answer = await fetch(`${api}/${path}`, { ...post, headers });
    return { ...(await answer.json()), status: answer.status };
  } catch {
    return { status: 0, message: "The service does not answer. Is it running?" };
  }
}

async function showHealth() {
  const { version, checks = {}, message } = await call("health");
  at("health").textContent = version === undefined ? message : `Running, version ${version}.`;
  at("health").dataset.state = version === undefined ? "down" : "up";
  for (const [name, check] of Object.entries(checks)) {
    at("parts").append(document.createElement("li"));
    at("parts").lastChild.textContent = `${name}: ${check.message ?? check.status}`;
  }
}

/** Signs in with the token of a mailed link, which leaves address bar and history first. */
async function signIn() {
  const [, link] = /^#\/sign-in\?token=([^&]*)/.exec(location.hash) ?? [];
  if (link === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  const { status, message, token, user } = await call("auth/validate-magic-link", { token: link });
  const refusal =
    status === 401 || status === 400
      ? "This link was used before, or its 10 minutes are over. Ask for a new one:"
      : `${message} Open the link once more.`;
  at("account").textContent = user ? "Signed in" : "Sign in";
  at("outcome").textContent = user ? `You are signed in as ${user.email} (${user.role}).` : refusal;
  at("ask").hidden = user !== undefined;
  at("signed-in").hidden = user === undefined;
  at("token").value = token ?? "";
  at("account").focus();
  if (token) await showInvitations(token);
}

/** Lists what the person is invited to, each with a button to accept and one to decline. */
async function showInvitations(token) {
  const { items = [] } = await call("invitations", undefined, token);
  at("invited").hidden = items.length === 0;
  at("invitations").replaceChildren(
    ...items.map(({ id, kind, role, workspace_name: name, invited_by: by }) => {
      const line = document.createElement("li");
      const to = kind === "workspace" ? `the workspace “${name}”` : "a recorded conversation";
      line.append(`${by.name || "Somebody"} invites you to ${to}, as ${role}. `);
      for (const [label, deed] of [
        ["Accept", "accept"],
        ["Decline", "decline"],
      ]) {
        const button = document.createElement("button");
        button.textContent = label;
        button.addEventListener("click", async () => {
          const { message } = await call(`invitations/${id}/${deed}`, {}, token);
          await showInvitations(token);
          at("outcome").textContent = message;
        });
        line.append(button, " ");
      }
      return line;
    }),
  );
}

/** Tells whoever follows the link of an invitation how to get to see it. */
function tellInvited() {
  if (location.hash !== "#/invitations") return;
  at("outcome").textContent =
    "To see your invitation, have a sign-in link sent to the address at which you are invited.";
  at("account").focus();
}

at("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { message } = await call("auth/request-magic-link", { email: at("email").value });
  at("outcome").textContent = message;
});
at("copy").addEventListener("click", () => {
  at("token").select();
  if (document.execCommand("copy")) at("outcome").textContent = "The token is copied.";
});
for (const each of document.querySelectorAll("[data-address]")) each.textContent = api;
addEventListener("hashchange", signIn);
addEventListener("hashchange", tellInvited);
tellInvited();
void signIn();
void showHealth();

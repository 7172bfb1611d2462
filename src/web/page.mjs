const at = (id) => document.getElementById(id);
const api = new URL("api", document.baseURI).href;

/** Status and content of an answer; status 0 when none came. */
async function call(path, body) {
  const headers = { "content-type": "application/json" };
  const post = { method: "POST", headers, body: JSON.stringify(body) };
  try {
    const answer = await fetch(`${api}/${path}`, body && post);
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
void signIn();
void showHealth();

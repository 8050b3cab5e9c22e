// The program of the API documentation page, which runs in the browser. It fills the reader's key
// and ids into the examples. The key stays in the memory of the page.

// Zod, which the reference uses, would try `eval` to see whether it may. The policy of the page
// forbids that, and the browser would report each try.
globalThis.__zod_globalConfig = { jitless: true };

const CONFIGURATION = {
  pageTitle: "Postrider API",
  withDefaultFonts: false,
  hideClientButton: true,
  telemetry: false,
  proxyUrl: "",
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  documentDownloadType: "none",
  defaultOpenFirstTag: false,
  expandAllSchemaProperties: true,
  orderRequiredPropertiesFirst: true,
  orderSchemaPropertiesBy: "preserve",
};

/** Calls an operation that reads, and returns its answer, or throws the message of its error. */
async function read(path, key) {
  const response = await fetch(`/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error?.message ?? `HTTP ${response.status}`);
  return answer;
}

function fillChoices(selects, accounts) {
  selects.forEach((select, index) => {
    const options = accounts.map(
      ({ id, platform, username, displayName }) =>
        new Option(`${platform}: ${username ?? displayName ?? id}`, id),
    );
    select.replaceChildren(...options);
    select.selectedIndex = Math.min(index, accounts.length - 1);
  });
}

/**
 * Offers the newest item of each list. A list that the key may not read, or an empty one, offers
 * none.
 */
async function offerNewest(inputs, key) {
  const offers = inputs.map(async (input) => {
    const { path, field } = input.dataset;
    if (path === undefined) return;
    const answer = await read(path, key).catch(() => ({}));
    input.value = answer[field]?.[0]?.id ?? input.value;
  });
  await Promise.all(offers);
}

/**
 * Leaves out repeated items: with one account, the first and the second account of an example are
 * the same.
 */
function withoutRepetition(_name, value) {
  return Array.isArray(value) ? [...new Set(value)] : value;
}

/** Returns the API description with the reader's values in place of those of the examples. */
function fill(text, fields) {
  const filled = fields.reduce((before, { dataset, value }) => {
    const quoted = JSON.stringify(value.trim()).slice(1, -1);
    return quoted === "" ? before : before.replaceAll(dataset.example, () => quoted);
  }, text);
  return JSON.parse(filled, withoutRepetition);
}

/** Tells the API reference how much of the window the form for the key and the ids covers. */
function reserveSpace(form) {
  const { style } = document.documentElement;
  const report = () => style.setProperty("--scalar-custom-header-height", `${form.offsetHeight}px`);
  new ResizeObserver(report).observe(form);
}

async function start() {
  const form = document.getElementById("values");
  reserveSpace(form);
  const [keyInput, button] = [form.querySelector("input"), form.querySelector("button")];
  const [status, fieldset] = [form.querySelector("output"), form.querySelector("fieldset")];
  const selects = [...fieldset.querySelectorAll("select")];
  const inputs = [...fieldset.querySelectorAll("input")];
  const text = await (await fetch("document.json")).text();
  let key = "";
  const configure = () => ({
    ...CONFIGURATION,
    content: fill(text, [...selects, ...inputs]),
    authentication: { securitySchemes: { bearerApiKey: { token: key } } },
  });
  const reference = Scalar.createApiReference("#reference", configure());
  const useKey = async () => {
    const given = keyInput.value.trim();
    const { accounts: connected } = await read("accounts", given);
    const accounts = connected.filter((account) => account.status === "active");
    key = given;
    fillChoices(selects, accounts);
    await offerNewest(inputs, key);
    fieldset.hidden = false;
    reference.updateConfiguration(configure());
    return accounts.length === 0
      ? "This workspace has no account yet."
      : "The examples have your key and ids.";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void useKey()
      .catch((error) => error.message)
      .then((message) => (status.textContent = message));
  });
  fieldset.addEventListener("change", () => reference.updateConfiguration(configure()));
  // Until here the controls are disabled, because a submitted form would load another page.
  for (const control of [keyInput, button]) control.disabled = false;
}

document.addEventListener("DOMContentLoaded", () => void start());

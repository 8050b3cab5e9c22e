export interface Config {
  readonly url: URL;
  readonly apiKey: string;
  /** Id of the workspace; needed if the API key belongs to several workspaces. */
  readonly workspaceId: string | undefined;
}

/**
 * Whether a text is a URL without a password. `fetch` repeats a password in its error message,
 * which the agent would read.
 */
function isUsable(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === "";
}

/**
 * Reads the installation from the environment.
 *
 * @throws Error that names each variable that is missing or wrong.
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const { POSTRIDER_URL: address = "", POSTRIDER_API_KEY: apiKey = "" } = env;
  const faults = [
    ...(isUsable(address)
      ? []
      : [
          "POSTRIDER_URL must be the address of Postrider, without a password, such as https://postrider.example.com",
        ]),
    ...(apiKey === "" ? ["POSTRIDER_API_KEY must be an API key of Postrider"] : []),
  ];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return { url: new URL("/mcp", address), apiKey, workspaceId: env["POSTRIDER_WORKSPACE_ID"] };
}

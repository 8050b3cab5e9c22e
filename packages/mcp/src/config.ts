/** The Postrider installation whose tools an agent uses. */
export interface Config {
  readonly url: URL;
  readonly apiKey: string;
  /** The workspace, if the key belongs to several. */
  readonly workspaceId: string | undefined;
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
  const isAddress = /^https?:/.test(address) && URL.canParse("/mcp", address);
  const faults = [
    ...(isAddress
      ? []
      : ["POSTRIDER_URL must be the address of Postrider, such as https://postrider.example.com"]),
    ...(apiKey === "" ? ["POSTRIDER_API_KEY must be an API key of Postrider"] : []),
  ];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return { url: new URL("/mcp", address), apiKey, workspaceId: env["POSTRIDER_WORKSPACE_ID"] };
}

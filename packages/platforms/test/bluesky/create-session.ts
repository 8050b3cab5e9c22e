/** Creates a Bluesky session with an app password and returns its access token. */
export async function createSession(
  platformUrl: string,
  { identifier, appPassword }: Readonly<Record<string, string>>,
): Promise<string> {
  const answer = await fetch(`${platformUrl}/xrpc/com.atproto.server.createSession`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ identifier, password: appPassword }),
  });
  return ((await answer.json()) as { accessJwt: string }).accessJwt;
}

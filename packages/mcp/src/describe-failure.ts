import { SdkHttpError } from "@modelcontextprotocol/client";

function messageOf(text: unknown): string | undefined {
  try {
    const body = JSON.parse(String(text)) as { readonly error?: { readonly message?: unknown } };
    return typeof body.error?.message === "string" ? body.error.message : undefined;
  } catch {
    return undefined;
  }
}

/** Tells the agent's user why a message did not reach Postrider, and what to do. */
export function describeFailure(error: unknown, url: URL): string {
  if (error instanceof SdkHttpError) {
    const { status } = error;
    if (status === 401) return "Postrider refuses the key in POSTRIDER_API_KEY. Create a new one.";
    if (status === 404) return `${url.href} does not exist. Check POSTRIDER_URL.`;
    const text = messageOf(error.data.text) ?? error.message;
    return `Postrider answered ${status}: ${text}${status === 421 ? " Set POSTRIDER_URL to that address." : ""}`;
  }
  const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } };
  const reason = cause?.code === undefined ? message : `${message}, ${cause.code}`;
  return `Postrider cannot be reached at ${url.origin} (${reason}). Check POSTRIDER_URL, and that it runs.`;
}

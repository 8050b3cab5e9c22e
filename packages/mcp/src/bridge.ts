import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  SdkHttpError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { Config } from "./config.ts";

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

/** JSON-RPC code for an internal error. */
const INTERNAL_ERROR = -32_603;

function createTransport({ url, apiKey, workspaceId }: Config): StreamableHTTPClientTransport {
  const workspace = workspaceId === undefined ? {} : { "x-workspace-id": workspaceId };
  const headers = { authorization: `Bearer ${apiKey}`, ...workspace };
  return new StreamableHTTPClientTransport(url, { requestInit: { headers } });
}

function cancelledId(message: JSONRPCMessage): unknown {
  const isCancelled =
    isJSONRPCNotification(message) && message.method === "notifications/cancelled";
  return isCancelled ? message.params?.["requestId"] : undefined;
}

/**
 * Forwards the messages of an agent on standard input to Postrider, and the answers to standard
 * output, until the input ends.
 */
export async function startBridge(config: Config): Promise<void> {
  const agent = new StdioServerTransport();
  const postrider = createTransport(config);
  /** The unanswered requests by id, each with the controller that aborts it. */
  const open = new Map<unknown, AbortController>();
  const ending = new AbortController();
  let initializeId: unknown;

  const answer = (message: JSONRPCMessage) => {
    if ("id" in message) open.delete(message.id);
    // An agent names the protocol version only in its first message, but Postrider reads the
    // version from a header of each later request.
    if (isJSONRPCResultResponse(message) && message.id === initializeId)
      postrider.setProtocolVersion(String(message.result["protocolVersion"]));
    // The agent may have exited before the answer arrived.
    agent.send(message).catch(() => undefined);
  };

  const send = async (message: JSONRPCMessage, { signal }: AbortController) => {
    try {
      await postrider.send(message, { requestSignal: signal });
    } catch (error) {
      if (ending.signal.aborted || signal.aborted) return;
      const text = describeFailure(error, config.url);
      process.stderr.write(`postrider-mcp: ${text}\n`);
      if (isJSONRPCRequest(message))
        answer({ jsonrpc: "2.0", id: message.id, error: { code: INTERNAL_ERROR, message: text } });
    }
  };

  const forward = (message: JSONRPCMessage) => {
    const cancelled = cancelledId(message);
    if (cancelled !== undefined) {
      open.get(cancelled)?.abort();
      open.delete(cancelled);
      return;
    }
    const request = new AbortController();
    if (isJSONRPCRequest(message)) {
      open.set(message.id, request);
      if (message.method === "initialize") initializeId = message.id;
    }
    void send(message, request);
  };

  const end = () => {
    ending.abort();
    void postrider.close();
  };
  Object.assign(postrider, { onmessage: answer });
  Object.assign(agent, { onmessage: forward, onclose: end });
  await postrider.start();
  await agent.start();
}

import type { ExpectedAnswer } from "#src/routes/answer-limits.ts";
import type { Tool } from "./tool.ts";

/** An MCP tool returns its result twice: as text, and as structured content. */
const COPIES = 2;

/** Returns the name of the MCP tool that a JSON-RPC message calls; undefined for any other message. */
function toolNameOf(message: unknown): unknown {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
  return method === "tools/call" ? params?.name : undefined;
}

/** Returns what the gateway knows about the answer to an agent's message before it calls the MCP tool. */
export function expectAnswer(tools: readonly Tool[], message: unknown): ExpectedAnswer {
  const name = toolNameOf(message);
  const tool = tools.find((each) => each.name === name);
  const isRead = tool === undefined || tool.isReadOnly === true;
  return { bytes: COPIES * (tool?.answerBytes ?? 0), isRead };
}

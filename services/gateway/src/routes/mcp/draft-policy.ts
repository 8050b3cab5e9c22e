import type { ToolAnswer } from "./internal-call.ts";
import type { Tool } from "./tool.ts";

type Values = Readonly<Record<string, unknown>>;

/** The entry among the scopes of an API key that limits agents to creating and changing drafts. */
export const DRAFTS_ONLY = "mcp:drafts";

/** Whether an API key that is limited to drafts may use the MCP tool with these inputs. */
export function isDraftWork({ name, isReadOnly }: Tool, input: Values): boolean {
  if (isReadOnly === true || name === "add_media_from_url" || name === "get_metrics") return true;
  if (name === "create_post") return (input["when"] ?? "draft") === "draft";
  const isEdit = name === "update_post";
  return isEdit && input["scheduledAt"] === undefined && input["publishNow"] !== true;
}

/**
 * The refusal of an MCP tool that an agent may not call, because its API key is limited to drafts.
 */
export const REFUSAL: ToolAnswer = {
  status: 403,
  headers: {},
  body: {
    error: {
      code: "insufficient_scope",
      message:
        "Agents can only create and change drafts with this API key. Create a draft, and ask a person to publish it.",
      details: [{ code: DRAFTS_ONLY, message: "The key was created with --mcp draft-only." }],
    },
  },
};

import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { actionFor } from "@postrider/rest/target-errors/action-for";
import { TARGET_ERROR_CODES, TARGET_ERRORS } from "@postrider/rest/target-errors/catalogue";
import type { DetailEntry } from "./entry.ts";
import { ERRORS } from "./errors.ts";
import { POST_DETAILS } from "./post-details.ts";
import { REQUEST_DETAILS } from "./request-details.ts";
import { STATE_DETAILS } from "./state-details.ts";

function toAction(code: string, platform?: string): string {
  const failed = { work: "publication", status: "failed", code, retryable: true } as const;
  return actionFor("en", platform === undefined ? failed : { ...failed, platform });
}

function row(...cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function listSpecial(): string[] {
  return TARGET_ERROR_CODES.flatMap((code) => {
    const { platforms = {} } = TARGET_ERRORS[code];
    return PLATFORM_IDS.filter((id) => platforms[id] !== undefined).map((id) =>
      row(`\`${code}\``, id, toAction(code, id)),
    );
  });
}

/** Returns the section of `docs/api/errors.md` about the errors of targets. */
function documentTargetErrors(): string {
  const codes = TARGET_ERROR_CODES.map((code) =>
    row(`\`${code}\``, TARGET_ERRORS[code].cause.en, toAction(code)),
  );
  return `## Codes of failed targets

A target that failed, a deletion that failed and an action on a comment that failed have an \`error\`:

| field | meaning |
|---|---|
| \`code\` | one of the codes below; treat an unknown one by \`retryable\` |
| \`message\` | the platform's own words, where it sent any |
| \`retryable\` | whether sending it again can succeed without anything being changed first |
| \`action\` | what to do next, for people: our advice for this code, platform and status |

While a target still waits for another attempt, \`action\` says that nothing is to be done. \`{id}\` stands for the id of the post.

| code | what happened | \`action\` of a failed target |
|---|---|---|
${codes.join("\n")}

On some platforms the advice differs:

| code | platform | \`action\` |
|---|---|---|
${listSpecial().join("\n")}
`;
}

/**
 * Returns a text of the error catalogue without its parameters, for the list of errors: a value
 * such as a limit is known only when an actual request is answered.
 */
function withoutValues(text: string): string {
  return text.replaceAll(/\[[^\]]*\]/g, "").replaceAll(/\{\w+\|([^}]*)\}/g, "$1");
}

function rowsOf(entries: Readonly<Record<string, DetailEntry & { readonly status?: number }>>) {
  return Object.entries(entries).map(([code, { status, unit, texts }]) => {
    const [cause, remedy] = texts.en.map(withoutValues);
    const first = status === undefined ? [] : [status];
    const last = status === undefined ? [unit ?? ""] : [];
    return `| ${[...first, `\`${code}\``, cause, remedy, ...last].join(" | ")} |`;
  });
}

const DETAIL_HEAD = "| code | cause | what to do | unit of `limit` |\n|---|---|---|---|";

export function documentErrors(): string {
  return `# Errors

This page is made from the catalogue in \`services/gateway/src/http/catalogue\`. Programs decide by \`error.code\` and the HTTP status,
and may use the codes of details. Messages are for people and may change. New codes may be added: treat an unknown one like its HTTP
status.

\`\`\`json
{
  "error": {
    "code": "invalid_request",
    "message": "query parameter limit: This number is too large: 500, at most 100 is allowed. Send a smaller one.",
    "details": [
      { "code": "too_large", "message": "…", "path": "/limit", "in": "query", "limit": 100, "actual": 500, "minimum": 1, "maximum": 100 }
    ]
  }
}
\`\`\`

| field of a detail | meaning |
|---|---|
| \`path\`, \`in\` | JSON Pointer of the field of the body; with \`in\` the name of a \`query\` parameter or \`header\` |
| \`accountId\`, \`platform\` | the target of the post that the detail is about |
| \`expected\`, \`allowed\`, \`minimum\`, \`maximum\` | what would do |
| \`found\` | what was sent: as JSON, a header or method as it was sent, or the type of a longer value |
| \`limit\`, \`actual\`, \`unit\` | the limit and what was sent, in the same unit. The length of a text is in the unit of the platform: \`utf16_units\`, \`bytes\` (of UTF-8), \`graphemes\` or \`weighted_characters\` (of X). \`actual\` is absent if a text is so long that it was not counted to its end |
| \`status\`, \`reason\` | the status of the resource, or what another server answered |
| \`postId\`, \`plannedAt\` | the other post, and when it is due or was published |
| \`used\`, \`reserved\`, \`requested\`, \`resetsAt\` | the state of a quota |
| \`cell\`, \`address\` | the cell that has the workspace, and its address |

## Codes of errors

| status | code | cause | what to do |
|---|---|---|---|
${rowsOf(ERRORS).join("\n")}

## Codes of details: the form of a request

${DETAIL_HEAD}
${rowsOf(REQUEST_DETAILS).join("\n")}

## Codes of details: posts and files

${DETAIL_HEAD}
${rowsOf(POST_DETAILS).join("\n")}

## Codes of details: limits and states

${DETAIL_HEAD}
${rowsOf(STATE_DETAILS).join("\n")}

${documentTargetErrors()}`;
}

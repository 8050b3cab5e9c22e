import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { actionFor } from "@postrider/rest/target-errors/action-for";
import { TARGET_ERROR_CODES, TARGET_ERRORS } from "@postrider/rest/target-errors/catalogue";

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
export function documentTargetErrors(): string {
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

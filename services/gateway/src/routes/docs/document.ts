import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { documentErrors } from "#src/http/catalogue/document.ts";
import { API_PATH } from "#src/routes/api-paths.ts";
import { BACKFILL_EXAMPLE } from "#src/routes/automations/backfill-schemas.ts";
import { EXAMPLE_IDS } from "#src/routes/description/examples/example.ts";

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  example?: string;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { examples?: unknown }>> };
  readonly responses?: Readonly<Record<string, { description: string }>>;
}
interface Description {
  readonly info: { description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { not?: object }>> };
}

const DAY_MS = 86_400_000;
/**
 * The day before the earliest date in the examples of requests. The API documentation page moves
 * the dates of the examples, so that they are always in the future.
 */
const DAY_OF_EXAMPLES = Date.UTC(2026, 10, 23);
const DATE = /^\d{4}-\d{2}-\d{2}/;
const ERROR_CODES = /^(.*Error codes? )(.*)$/;

const { "comment_action.completed": action } = EXAMPLE_DATA;

/** Ids that the examples use as path parameters, by the beginning of the path. */
const IDS: Readonly<Record<string, string>> = {
  "/api/v1/accounts/": EXAMPLE_IDS.account,
  "/api/v1/posts/": EXAMPLE_IDS.post,
  "/api/v1/media/": EXAMPLE_IDS.media,
  "/api/v1/queue-slots/": EXAMPLE_IDS.queueSlotRule,
  "/api/v1/webhooks/": EXAMPLE_IDS.webhook,
  "/api/v1/comment-actions/": action.id,
  "/api/v1/automations/partner-dm-rules/": EXAMPLE_IDS.rule,
  "/api/v1/automations/partner-dm-backfills/": BACKFILL_EXAMPLE.id,
};
/** Example values of parameters that mean the same in all paths. */
const VALUES: Readonly<Record<string, string>> = {
  mediaId: action.mediaId,
  commentId: action.commentId,
  deliveryId: EXAMPLE_IDS.delivery,
  ruleId: EXAMPLE_IDS.rule,
};

/** Leaves out the sentence that tells contributors which code generates the list. */
function listErrors(): string {
  return documentErrors().replace(/This page is made from [^.]*\. /, "");
}

function exampleOf(path: string, name: string): string | undefined {
  return VALUES[name] ?? Object.entries(IDS).find(([start]) => path.startsWith(start))?.[1];
}

function moveDates(value: unknown, days: number): unknown {
  if (typeof value === "string" && DATE.test(value)) {
    const date = value.slice(0, 10);
    const moved = new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);
    return moved + value.slice(10);
  }
  if (Array.isArray(value)) return value.map((item) => moveDates(item, days));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, moveDates(item, days)]),
  );
}

function completeOperation(path: string, operation: Operation, days: number): void {
  for (const parameter of operation.parameters ?? []) {
    const example = exampleOf(path, parameter.name);
    if (parameter.required === true && example !== undefined) parameter.example = example;
  }
  for (const content of Object.values(operation.requestBody?.content ?? {}))
    content.examples = moveDates(content.examples, days);
  for (const response of Object.values(operation.responses ?? {}))
    response.description = response.description.replace(
      ERROR_CODES,
      (_, start: string, codes: string) =>
        start + codes.replaceAll(/`\w+`/g, (code) => `[${code}](#description/codes-of-errors)`),
    );
}

/**
 * Returns the API description as the documentation page shows it: with the list of errors, to which
 * the codes of each operation lead, with an example for each required parameter, and with dates
 * after `now` in the examples of requests.
 *
 * The page does not show `not` schemas, which say in a form for machines what the descriptions of
 * the fields say.
 */
export function toPageDocument(description: object, now: Date): object {
  const document = structuredClone(description) as Description;
  const days = Math.max(0, Math.floor((now.getTime() - DAY_OF_EXAMPLES) / DAY_MS));
  document.info.description += `\n\nThis page shows the [API description](${API_PATH}/openapi.json) (OpenAPI 3.1).\n\n${listErrors()}`;
  for (const [path, operations] of Object.entries(document.paths))
    for (const operation of Object.values(operations)) completeOperation(path, operation, days);
  for (const schema of Object.values(document.components.schemas)) delete schema.not;
  return document;
}

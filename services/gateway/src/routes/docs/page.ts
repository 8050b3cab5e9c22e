import { EXAMPLE_DATA } from "@postrider/rest/webhooks/event-examples";
import { BACKFILL_EXAMPLE } from "#src/routes/automations/backfill-schemas.ts";
import { EXAMPLE_IDS } from "#src/routes/description/examples/ids.ts";

const { "comment_action.completed": action } = EXAMPLE_DATA;

/** An example value in the API documentation that readers can replace by one of their own. */
interface Replaceable {
  readonly label: string;
  /** The value that the examples contain, such as the id of the example post. */
  readonly value: string;
  /**
   * For the ids of a list's items: the path of the list, and the field of its answer that holds the items. The form
   * offers the newest item's id as replacement.
   */
  readonly list?: readonly [path: string, field: string];
}

const RULES = "automations/partner-dm-rules";
const BACKFILLS = "automations/partner-dm-backfills";

const REPLACEABLE: readonly Replaceable[] = [
  { label: "Post", value: EXAMPLE_IDS.post, list: ["posts?limit=1", "posts"] },
  { label: "Media", value: EXAMPLE_IDS.media },
  { label: "Address of a file to import", value: "https://example.com/shop.jpg" },
  { label: "Queue slot rule", value: EXAMPLE_IDS.queueSlotRule, list: ["queue-slots", "rules"] },
  { label: "Webhook", value: EXAMPLE_IDS.webhook, list: ["webhooks?limit=1", "webhooks"] },
  { label: "Address that receives webhooks", value: "https://example.com/postrider" },
  { label: "Webhook delivery", value: EXAMPLE_IDS.delivery },
  { label: "Platform's id of a media", value: action.mediaId },
  { label: "Platform's id of a comment", value: action.commentId },
  { label: "Action on a comment", value: action.id },
  { label: "Automation rule", value: EXAMPLE_IDS.rule, list: [`${RULES}?limit=1`, "rules"] },
  {
    label: "Backfill job",
    value: BACKFILL_EXAMPLE.id,
    list: [`${BACKFILLS}?limit=1`, "backfills"],
  },
];

function field({ label, value, list }: Replaceable): string {
  const source = list === undefined ? "" : ` data-path="${list[0]}" data-field="${list[1]}"`;
  return `<label>${label} <input data-example="${value}"${source} autocomplete="off" spellcheck="false" /></label>`;
}

function choice(label: string, value: string): string {
  return `<label>${label} <select data-example="${value}"></select></label>`;
}

/** Returns the API documentation page: a form for the key and the ids in the examples, above the reference. */
export function renderPage(): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Postrider API</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="page.css" />
    <script src="js/page.js" defer></script>
    <script src="js/scalar.js" defer></script>
  </head>
  <body>
    <form id="values" aria-label="Values of the examples">
      <label>API key <input type="password" autocomplete="off" placeholder="pr_live_…" required disabled /></label>
      <button disabled>Use this key</button>
      <output role="status">With your key, every example can be sent as it stands.</output>
      <fieldset hidden>
        <legend>In the examples</legend>
        ${choice("Account", EXAMPLE_IDS.account)}
        ${choice("Second account", EXAMPLE_IDS.otherAccount)}
        <details>
          <summary>More ids</summary>
          ${REPLACEABLE.map(field).join("\n          ")}
        </details>
      </fieldset>
    </form>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. The API description is at /api/v1/openapi.json.</noscript>
  </body>
</html>
`;
}

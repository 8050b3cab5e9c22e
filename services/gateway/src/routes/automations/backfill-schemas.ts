import { enumeration, Id, Instant, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import { PAGE, RuleId } from "#src/routes/automations/page.ts";
import { Comment, COMMENT_EXAMPLE } from "#src/routes/comments/schemas.ts";
import { MAX_PLATFORM_ID_LENGTH } from "#src/routes/request.ts";
import { CURSOR } from "#src/routes/schemas.ts";

const MediaId = Type.String({
  minLength: 1,
  maxLength: MAX_PLATFORM_ID_LENGTH,
  description:
    "The platform's id of one media, such as externalId of a target that GET /posts/ID returns.",
});
const Reason = nullable(
  enumeration(
    "BackfillReason",
    ["excluded", "too_old", "already_replied"],
    "Why the comment is skipped. More reasons may be added.",
  ),
);

const Counts = Type.Object(
  {
    scanned: Type.Integer({ minimum: 0, description: "Comments that were read." }),
    matched: Type.Integer({ minimum: 0, description: "The sum of `prepared` and `skipped`." }),
    prepared: Type.Integer({ minimum: 0 }),
    skipped: Type.Integer({ minimum: 0 }),
  },
  { $id: "BackfillCounts" },
);

const BackfillItem = Type.Object(
  {
    comment: ref(Comment),
    outcome: enumeration("BackfillOutcome", ["prepared", "skipped", "no_match"]),
    reason: Reason,
  },
  { $id: "BackfillItem", description: "What the rule makes of a past comment." },
);

const BackfillPreviewItem = Type.Object(
  {
    comment: ref(Comment),
    outcome: enumeration("BackfillPreviewOutcome", ["prepare", "skip", "no_match"]),
    reason: Reason,
  },
  { $id: "BackfillPreviewItem", description: "What the rule would make of a past comment." },
);

export const BackfillPreview = Type.Object(
  { comments: Type.Array(ref(BackfillPreviewItem)), nextCursor: nullable(Type.String()) },
  { $id: "BackfillPreview" },
);

const BACKFILL = {
  id: Id,
  ruleId: Id,
  mediaId: Type.String(),
  status: enumeration(
    "BackfillStatus",
    ["preparing", "ready", "paused", "completed", "failed"],
    "ready: further comments can be prepared. completed: all comments are.",
  ),
  counts: ref(Counts),
  sending: Type.Unsafe<string>({
    type: "string",
    const: "blocked",
    description: "Nothing is ever sent to the authors of past comments.",
  }),
  createdAt: Instant,
  updatedAt: Instant,
};

const BackfillSummary = Type.Object(BACKFILL, {
  $id: "BackfillSummary",
  description: "A job that tries a rule on past comments, without its results.",
});

/** A backfill job in the examples of the API description. */
export const BACKFILL_EXAMPLE = {
  id: "01a1a1d0-1a2b-7c3d-8e4f-5061728394a5",
  ruleId: "01a19d00-4a5b-7c6d-8e7f-8091a2b3c4d5",
  mediaId: "18027438291234567",
  status: "completed",
  counts: { scanned: 1, matched: 1, prepared: 1, skipped: 0 },
  sending: "blocked",
  createdAt: "2026-11-21T10:05:00.000Z",
  updatedAt: "2026-11-21T10:05:00.611Z",
  results: [{ comment: COMMENT_EXAMPLE, outcome: "prepared", reason: null }],
  nextCursor: null,
};

export const Backfill = Type.Object(
  {
    ...BACKFILL,
    results: Type.Array(ref(BackfillItem), {
      description: "A page with one result per comment, newest comment first.",
    }),
    nextCursor: nullable(Type.String({ description: "Cursor of the next page of results." })),
  },
  {
    $id: "Backfill",
    description: "A job that tries a rule on past comments, with a page of its results.",
    examples: [BACKFILL_EXAMPLE],
  },
);

export const BackfillList = Type.Object(
  { backfills: Type.Array(ref(BackfillSummary)), nextCursor: nullable(Type.String()) },
  { $id: "BackfillList" },
);

export const CreateBackfill = Type.Object(
  { ruleId: RuleId, mediaId: MediaId },
  {
    $id: "CreateBackfill",
    additionalProperties: false,
    examples: [{ ruleId: BACKFILL_EXAMPLE.ruleId, mediaId: BACKFILL_EXAMPLE.mediaId }],
  },
);

export const UpdateBackfill = Type.Object(
  {
    action: enumeration(
      "BackfillAction",
      ["prepare_next_page", "pause", "resume"],
      "No action ends a job; a paused one does nothing until it is resumed.",
    ),
  },
  { $id: "UpdateBackfill", additionalProperties: false, examples: [{ action: "pause" }] },
);

export const PageQuery = Type.Object(PAGE, { additionalProperties: false });

export const PreviewBackfillQuery = Type.Object(
  { ruleId: RuleId, mediaId: MediaId, cursor: CURSOR },
  { additionalProperties: false },
);

/** Schemas of backfill jobs that the API description lists by name. */
export const BACKFILL_SCHEMAS = [
  Counts,
  BackfillItem,
  BackfillPreviewItem,
  BackfillPreview,
  BackfillSummary,
  Backfill,
  BackfillList,
  CreateBackfill,
  UpdateBackfill,
];

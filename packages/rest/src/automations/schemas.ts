import { Type } from "typebox";
import { CommentAuthor } from "#src/comments/schemas.ts";
import { enumeration, Id, Instant, nullable, ref } from "#src/schemas.ts";

export const RunStatus = enumeration(
  "RunStatus",
  ["prepared", "sent", "skipped", "failed"],
  "prepared: the private reply waits to be sent or, with the reason `sending_blocked`, is never sent.",
);

export const AutomationRun = Type.Object(
  {
    id: Id,
    ruleId: Id,
    commentId: Type.String({ description: "The platform's id of the comment." }),
    mediaId: Type.String({ description: "The platform's id of the media." }),
    author: ref(CommentAuthor),
    status: RunStatus,
    reason: nullable(
      enumeration(
        "RunReason",
        [
          "sending_blocked",
          "excluded",
          "already_replied",
          "too_old",
          "rule_inactive",
          "platform_refused",
          "outcome_unknown",
        ],
        "Why no private reply was sent. sending_blocked: the operator has not enabled sending. More reasons may be added.",
      ),
    ),
    createdAt: Instant,
  },
  {
    $id: "AutomationRun",
    description: "What became of one comment under one rule.",
    examples: [
      {
        id: "01a1a1c5-0b1e-7c2d-9e3f-405162738495",
        ruleId: "01a19d00-4a5b-7c6d-8e7f-8091a2b3c4d5",
        commentId: "17912345678901234",
        mediaId: "18027438291234567",
        author: { id: "17841405309211844", username: "bike.fan" },
        status: "prepared",
        reason: "sending_blocked",
        createdAt: "2026-11-21T10:03:00.507Z",
      },
    ],
  },
);

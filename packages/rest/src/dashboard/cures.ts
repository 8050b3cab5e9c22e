import { Type, type Static } from "typebox";
import { Platform, Words } from "#src/dashboard/parts.ts";
import { Id, Instant, nullable } from "#src/schemas.ts";

/** What mends an error, which decides the button beside it. */
export const CURE_KINDS = [
  /** Connect the account again, then retry what waits for it. */
  "reconnect",
  /** Do on the platform what the words say, then retry. */
  "open_then_retry",
  /** Retry alone can help. */
  "retry",
  /** Retry helps from a time on: `waitsFor.until` of the target, as far as it is known. */
  "retry_later",
  /** Write another text for this account alone. */
  "change_content",
  /** Choose other media for this account alone. */
  "change_media",
  /** Look at the account on the platform. */
  "look",
  /** Look at the account, then say whether the post is there: POST …/resolve. */
  "resolve",
  /** The post is there twice: open both, delete one. */
  "open_both",
  /** It is too late for the planned time: publish now or leave it. */
  "publish_now",
  /** Only the operator can mend it: copy the facts. */
  "tell_operator",
  /** The deletion failed: delete again, or by hand on the platform. */
  "delete_again",
  /** Nothing is to be done: it is tried again by itself. */
  "wait",
] as const;

export const Cure = Type.Object({
  kind: Type.Unsafe<(typeof CURE_KINDS)[number]>({ type: "string", enum: [...CURE_KINDS] }),
  /** What to do, as whole sentences. */
  words: Words,
});

/**
 * `GET /app/api/cures`: the words of every error code, and of platforms with words of their own.
 */
export const CureList = Type.Object({
  cures: Type.Array(
    Type.Object({
      code: Type.String(),
      /**
       * Null: for all platforms without an entry of their own for this code. `{name}` in its words
       * stands for the name of the platform.
       */
      platform: nullable(Platform),
      /** What happened, in a sentence: the heading of the cause. */
      cause: Words,
      cure: Cure,
    }),
  ),
});

export const WAIT_KINDS = [
  /** Publishing is paused: `pause` says for what. */
  "pause",
  /** The platform left several calls without an answer; one call tries it out at `until`. */
  "held_platform",
  /** The app has used up a limit of the platform. */
  "platform_limit",
  /** The account reached a limit of the platform, or failed several times in a row. */
  "held_account",
  /** The next attempt after a failed one is due at `until`. */
  "next_attempt",
  /** It is looked on the platform whether the post is there. */
  "outcome",
  /** The planned time. */
  "schedule",
] as const;

/** What a target waits for, or the limit at which it failed, as long as the limit lasts. */
export const WaitsFor = Type.Object({
  kind: Type.Unsafe<(typeof WAIT_KINDS)[number]>({ type: "string", enum: [...WAIT_KINDS] }),
  /** When it goes on by itself, or when the limit begins anew; null = not known. */
  until: nullable(Instant),
  /**
   * What a pause holds: `platform`, `account`, `workspace` or `deployment`; null for other kinds.
   */
  pause: nullable(Type.String()),
  /** The operator's reason of a pause. */
  reason: nullable(Type.String()),
});

/** What the dashboard says about a post on one account. */
export const TargetWords = Type.Object({
  targetId: Id,
  accountId: Id,
  platform: Platform,
  username: Type.String(),
  status: Type.String(),
  /** Null while there is no error. The next four belong to the error. */
  code: nullable(Type.String()),
  /** The platform's own words; null when it sent none. */
  message: nullable(Type.String()),
  retryable: Type.Boolean(),
  cause: Type.Union([Words, Type.Null()]),
  cure: Type.Union([Cure, Type.Null()]),
  /** In a list, only of targets that failed at a limit, and of the first 100 of these. */
  waitsFor: Type.Union([WaitsFor, Type.Null()]),
});

/** `GET /app/api/posts/words?ids=a,b`: up to 100 posts of a list, with words of their targets. */
export const PostWordsList = Type.Object({
  posts: Type.Array(
    Type.Object({
      postId: Id,
      status: Type.String(),
      /** The beginning of its text. */
      text: Type.String(),
      targets: Type.Array(TargetWords),
    }),
  ),
});

/** `GET /app/api/posts/{id}/targets`. */
export const PostTargetsWords = Type.Object({
  postId: Id,
  targets: Type.Array(
    Type.Object({
      ...TargetWords.properties,
      /** Of a target that is there twice: the address of the other post, if it is known. */
      secondPermalink: nullable(Type.String()),
    }),
  ),
});

/**
 * `POST /app/api/posts/{id}/targets/{accountId}/resolve`: what a person saw on the platform. `url`,
 * the address of the post there, is required if it is published and refused otherwise.
 * `attemptCount` is that of the target that the person saw: a later attempt may have published it.
 */
export const ResolveTargetBody = Type.Object(
  {
    published: Type.Boolean(),
    url: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    attemptCount: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  },
  { additionalProperties: false },
);

/** The state after it: the post shows it a moment later. */
export const ResolvedTarget = Type.Object({
  targetId: Id,
  accountId: Id,
  status: Type.String(),
  permalink: nullable(Type.String()),
});

export type CureKind = (typeof CURE_KINDS)[number];
export type WaitKind = (typeof WAIT_KINDS)[number];
export type CureJson = Static<typeof Cure>;
export type CureListJson = Static<typeof CureList>;
export type WaitsForJson = Static<typeof WaitsFor>;
export type TargetWordsJson = Static<typeof TargetWords>;
export type PostWordsListJson = Static<typeof PostWordsList>;
export type PostWordsJson = PostWordsListJson["posts"][number];
export type PostTargetsWordsJson = Static<typeof PostTargetsWords>;
export type ResolveTargetBodyJson = Static<typeof ResolveTargetBody>;
export type ResolvedTargetJson = Static<typeof ResolvedTarget>;

import type { PlatformRules } from "@postrider/platforms/rules";
import { PlatformIdSchema } from "@postrider/rest/platform-id";
import { enumeration, nullable, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";
import {
  count,
  flag,
  ImageRules,
  MediaRules,
  number,
  optional,
  rules,
  text,
  texts,
  VideoRules,
} from "./media-rules-schema.ts";

type Rules = Omit<PlatformRules, "id" | "displayName" | "idempotency" | "verifyLive">;

const TextUnit = enumeration(
  "TextUnit",
  ["utf16", "weighted", "utf8_bytes", "graphemes"],
  "How the length of a text is counted: in UTF-16 units, in bytes of UTF-8, in graphemes (what readers see as one character), or weighted as X counts, where a URL and a character outside Latin scripts count differently. Errors call these units `utf16_units`, `bytes`, `graphemes` and `weighted_characters`.",
);
const PostKind = enumeration("PostKind", [
  "text",
  "link",
  "image",
  "carousel",
  "video",
  "short",
  "reel",
]);

const TextRules = rules<Rules["text"]>(
  "TextRules",
  {
    max: count("Maximum length."),
    unit: TextUnit,
    required: flag(),
    maxByTrait: optional(
      Type.Unsafe<object>({
        type: "object",
        additionalProperties: {
          type: "object",
          additionalProperties: { type: "integer" },
        },
        description:
          "Maximum lengths that replace `max` for some accounts, by a trait of the account and its value.",
      }),
    ),
    maxWithMedia: optional(count("Maximum length of the text of a post with media.")),
    maxUtf8Bytes: optional(count("Maximum length in bytes, which applies together with `max`.")),
    photo: optional(
      Type.Object(
        { titleMax: count(), descriptionMax: count() },
        { description: "Limits of a photo post, which has a title and a description." },
      ),
    ),
    maxHashtags: optional(count()),
    maxMentions: optional(count()),
    maxCashtags: optional(count()),
    urlWeight: optional(count("What every URL counts as, whatever its length.")),
    forbidden: optional(texts("Characters that are not allowed.")),
    countedAfterEntityParsing: optional(flag("Whether markup is not counted.")),
    linksClickable: flag(),
  },
  "Limits of the text of a post, counted in `unit`.",
);

const TitleRules = rules<Rules["title"]>(
  "TitleRules",
  {
    rule: enumeration("TitleRule", ["none", "optional", "required"]),
    max: optional(count()),
    unit: optional(TextUnit),
    forbidden: optional(texts("Characters that are not allowed.")),
    appliesTo: optional(Type.Array(PostKind)),
  },
  "Whether a post has a title.",
);

const TagRules = rules<Rules["tags"]>(
  "TagRules",
  {
    mode: enumeration("TagMode", ["in_text", "field"], "in_text: tags are hashtags in the text."),
    maxTotal: optional(count("Maximum length of all tags, with the commas between them.")),
    quotesCountForSpaces: optional(flag("Whether a tag with a space counts two characters more.")),
    forbidden: optional(texts("Characters that no tag may have.")),
    refusesBlank: optional(flag("Whether a tag of white space alone is refused.")),
    extraMax: optional(count()),
    extraMaxGraphemes: optional(count()),
    extraMaxUtf8Bytes: optional(count()),
  },
  "How tags are given, and their limits.",
);

const DailyLimitRules = rules<Rules["dailyLimit"]>(
  "DailyLimitRules",
  {
    count: optional(nullable(Type.Integer({ description: "null if the platform states none." }))),
    windowHours: optional(number()),
    scope: optional(text("Who shares the limit.")),
    source: optional(text("Where the platform states the limit of an account.")),
    resets: optional(text("When the limit is available again.")),
    points: optional(count("Points per day, where posts use points.")),
    perCreate: optional(count("Points that a post uses.")),
    hourlyPoints: optional(count()),
    perUser: optional(Type.Object({ count: count(), windowMinutes: number() })),
    reels: optional(Type.Object({ count: count(), windowHours: number(), scope: text() })),
    soft: optional(Type.Object({ count: count(), windowMinutes: number(), scope: text() })),
  },
  "How many posts the platform accepts. What is left is in `GET /quota`.",
);

const CommentRules = rules<Rules["comments"]>(
  "CommentRules",
  {
    list: flag(),
    listWindowDays: optional(number("Comments on older posts cannot be read.")),
    reply: Type.Unsafe<boolean | "restricted">({
      anyOf: [{ type: "boolean" }, { type: "string", const: "restricted" }],
      description: "restricted: the platform allows some replies only.",
    }),
    hide: flag(),
    delete: flag(),
  },
  "What can be done with the comments on a post.",
);

/** The rules of a platform, as the API shows them. */
const PlatformRulesSchema = rules<Rules>(
  "PlatformRules",
  {
    kind: text("A phrase that describes the platform."),
    text: TextRules,
    media: MediaRules,
    image: ImageRules,
    video: VideoRules,
    kinds: Type.Array(PostKind, { description: "The kinds of posts." }),
    title: TitleRules,
    privacy: texts("The values of `privacy`."),
    privacySource: optional(text("Where the platform states the values of an account.")),
    privacyNoDefault: optional(flag("Whether a post without a privacy is refused.")),
    tags: TagRules,
    dailyLimit: DailyLimitRules,
    delete: Type.Object(
      { supported: flag(), condition: optional(text()) },
      { description: "Whether published posts can be deleted." },
    ),
    metrics: Type.Object({ supported: flag(), names: texts("The counters that it gives.") }),
    comments: CommentRules,
    dm: Type.Object(
      { supported: flag(), windowDays: optional(number()), perComment: optional(count()) },
      { description: "Whether a comment can be answered with a private reply." },
    ),
  },
  "Limits in bytes, in seconds and, for texts, in the unit that is given with each limit. An absent limit does not exist, or is not known. More rules may be added.",
);

export const Platform = Type.Object(
  {
    id: ref(PlatformIdSchema),
    name: Type.String(),
    available: Type.Boolean(),
    unavailableReason: nullable(
      enumeration(
        "UnavailableReason",
        ["not_configured"],
        "not_configured: the operator has not set up the platform. More reasons may be added.",
      ),
    ),
    rules: PlatformRulesSchema,
  },
  { $id: "Platform" },
);

export const PlatformList = Type.Object(
  { platforms: Type.Array(ref(Platform)) },
  { $id: "PlatformList" },
);

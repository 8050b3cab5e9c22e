import type { PlatformRules } from "@postrider/platforms/rules";
import { named } from "@postrider/rest/schemas";
import { type TProperties, type TSchema, Type } from "typebox";

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
export const count = (description?: string) =>
  Type.Integer(description === undefined ? {} : { description });
export const number = (description?: string) =>
  Type.Number(description === undefined ? {} : { description });
export const flag = (description?: string) =>
  Type.Boolean(description === undefined ? {} : { description });
export const text = (description?: string) =>
  Type.String(description === undefined ? {} : { description });
export const texts = (description?: string) =>
  Type.Array(Type.String(), description === undefined ? {} : { description });

/**
 * Returns a schema with every property of T, so that a new rule does not compile until the API
 * describes it.
 */
export function rules<T>(
  name: string,
  properties: Record<keyof Required<T>, TSchema> & TProperties,
  description: string,
) {
  return named(name, Type.Object(properties, { additionalProperties: true, description }));
}

/** Schema of the rules for the files of a post. */
export const MediaRules = rules<PlatformRules["media"]>(
  "MediaRules",
  {
    required: flag(),
    min: count(),
    max: count(),
    galleryMax: optional(count("The higher maximum number of images in a gallery.")),
    mixImageVideo: flag("Whether a post may have both images and videos."),
    maxVideos: count(),
    altTextMax: optional(count("Maximum length of the description of an image, in UTF-16 units.")),
    altTextRequiredField: optional(flag()),
    needsPublicUrl: Type.Object(
      { image: flag(), video: flag() },
      { description: "Whether the platform fetches the files from this server." },
    ),
  },
  "How many files a post may have, and of which kinds.",
);

const AnimationRules = rules<NonNullable<PlatformRules["image"]["animation"]>>(
  "AnimationRules",
  {
    types: texts("Media types."),
    maxBytes: count(),
    maxWidth: optional(count("In pixels.")),
    maxHeight: optional(count("In pixels.")),
    maxFrames: optional(count()),
    maxPixels: optional(count("Of all frames together.")),
    maxPerPost: count("An animation excludes all other media of the post."),
  },
  "Limits of an image with an animation. Without them, the platform shows no animations.",
);

export const ImageRules = rules<PlatformRules["image"]>(
  "ImageRules",
  {
    types: texts("Media types that are sent as they are; other types are converted."),
    maxBytes: count(),
    animation: optional(AnimationRules),
    minRatio: optional(number("Width divided by height.")),
    maxRatio: optional(number("Width divided by height.")),
    minWidth: optional(count("In pixels. Narrower images are enlarged.")),
    maxLongSide: optional(count("In pixels.")),
    maxShortSide: optional(count("In pixels.")),
    maxWidthPlusHeight: optional(count("In pixels.")),
    maxAspect: optional(number("Longer side divided by shorter side.")),
    usefulSize: optional(
      Type.Object(
        { width: count(), height: count() },
        { description: "The size in pixels to which the platform reduces larger images." },
      ),
    ),
    role: optional(
      Type.Unsafe<string>({
        type: "string",
        const: "thumbnail",
        description: "Set if an image can only be the thumbnail of a video.",
      }),
    ),
  },
  "Limits of one image. Images that exceed them are converted where that is possible.",
);

export const VideoRules = rules<PlatformRules["video"]>(
  "VideoRules",
  {
    types: texts("Media types; one may end in `/*`."),
    maxBytes: count(),
    minSeconds: optional(number()),
    maxSeconds: optional(number()),
    maxSecondsSource: optional(text("Where the platform states the limit of an account.")),
    unverifiedMaxSeconds: optional(number("Limit of accounts that the platform has not verified.")),
    minFps: optional(number()),
    maxFps: optional(number()),
    codecs: optional(
      Type.Array(
        Type.Object({
          name: text("For example `h264` or `hevc`."),
          pixelFormats: optional(texts("For example `yuv420p`. Absent: every one.")),
        }),
        { description: "Video codecs. Absent: every one." },
      ),
    ),
    audioCodecs: optional(texts("Audio codecs. Absent: every one.")),
    fastStart: optional(
      flag("Whether the index has to lie in front; other MP4 and MOV files are rewritten."),
    ),
    altTextMax: optional(count("Maximum length of a description, in UTF-16 units.")),
    minPixels: optional(count("Of the width and of the height.")),
    maxPixels: optional(count("Of the width and of the height.")),
    minRatio: optional(number("Width divided by height.")),
    maxRatio: optional(number("Width divided by height.")),
    reel: optional(
      Type.Object({
        minSeconds: number(),
        maxSeconds: number(),
        minWidth: count(),
        minHeight: count(),
        minFps: number(),
        maxFps: number(),
      }),
    ),
  },
  "Limits of one video.",
);

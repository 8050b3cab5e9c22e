import type { VideoFacts } from "#src/domain/videos/video-facts.ts";

/** Names of codecs, profiles and pixel formats. Clients see them. */
const NAME = /^[a-z0-9][a-z0-9 .:/_?-]{0,59}$/i;

/** Checks what an inspection says about the encoding of a video. @returns an empty object when it says nothing. */
export function parseVideoFacts(said: unknown): { readonly video?: VideoFacts } {
  if (typeof said !== "object" || said === null) return {};
  const { codec, profile, pixelFormat, fps, audioCodec, fastStart, fragmented } = said as Readonly<
    Record<string, unknown>
  >;
  const isRate = typeof fps === "number" && fps > 0 && fps <= 1000;
  const video = {
    codec: toName(codec) ?? "unknown",
    profile: toName(profile),
    pixelFormat: toName(pixelFormat),
    fps: isRate ? fps : null,
    audioCodec: toName(audioCodec),
    fastStart: fastStart === true,
    fragmented: fragmented === true,
  };
  return { video };
}

function toName(said: unknown): string | null {
  return typeof said === "string" && NAME.test(said) ? said : null;
}

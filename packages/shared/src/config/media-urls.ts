import type { EnvReader } from "#src/config.ts";

export function readMediaKeys(read: EnvReader): readonly [string, ...string[]] {
  return read
    .secret(
      "Keys that sign the URLs of media files. The gateway, the media service and the delivery service need the same list, except delivery processes with `ROLE=webhooks` or `ROLE=engagement`, which need none. The first key signs new URLs. A URL is accepted if any key of the list signed it, so keys can be replaced without downtime.",
      { level: "needed" },
    )
    .secrets("MEDIA_KEY", 32);
}

export function readMediaUrlMs(read: EnvReader): number {
  return read
    .about("How long the signed URL of a media file is valid.", { level: "advanced" })
    .seconds("MEDIA_URL_SECONDS", 86_400, 1);
}

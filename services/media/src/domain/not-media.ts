import type { Violation } from "@postrider/shared/errors";
import { textTypeOf } from "#src/domain/text-type.ts";

export interface Answered {
  readonly url: string;
  readonly contentType: string;
  readonly start: Uint8Array;
  readonly isKnown: boolean;
}

/** Shares whose usual links lead to a page, and which link leads to the file. */
const SHARES: readonly (readonly [RegExp, string])[] = [
  [
    /(?:^|\.)(?:drive|docs)\.google\.com$|^drive\.usercontent\.google\.com$/,
    "https://drive.usercontent.google.com/download?id=FILE_ID&export=download&confirm=t with the id from the link, and share the file with anyone who has the link",
  ],
  [/(?:^|\.)dropbox\.com$/, "the link of the share with dl=1 instead of dl=0 at its end"],
  [
    /(?:^|\.)(?:1drv\.ms|onedrive\.live\.com|sharepoint\.com)$/,
    "the link of the share with the further parameter download=1, and share the file with anyone who has the link",
  ],
];

const MAX_FOUND = 100;
/** Types that say nothing about an answer. */
const UNTELLING =
  /^$|^(?:image|video|audio|binary)\/|^application\/(?:octet-stream|binary|x-download|force-download)$/;

/**
 * Explains an answer that is a web page, JSON, or of a type that only the server knows; undefined
 * for anything else.
 */
export function describeNotMedia({
  url,
  contentType,
  start,
  isKnown,
}: Answered): Violation | undefined {
  const said = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  const real = textTypeOf(start);
  const common = { code: "download_not_media", path: "/url", ...expectedOf(url) };
  if (real === "text/html" || said === "text/html" || said === "application/xhtml+xml")
    return { ...common, reason: "a web page", found: said.endsWith("html") ? said : "text/html" };
  const isJson = real === "application/json" || /^[^;]*[/+]json$/.test(said);
  if (isJson) return { ...common, reason: "JSON", found: "application/json" };
  return isKnown || UNTELLING.test(said)
    ? undefined
    : { ...common, found: said.slice(0, MAX_FOUND) };
}

function expectedOf(url: string): { readonly expected?: string } {
  const host = URL.parse(url)?.hostname ?? "";
  const expected = SHARES.find(([pattern]) => pattern.test(host))?.[1];
  return expected === undefined ? {} : { expected };
}

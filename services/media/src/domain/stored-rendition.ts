import {
  isRefusal,
  type RenderedImage,
  type Refusal,
  type RenditionPlan,
} from "./rendition-plan.ts";

export type StoredRendition =
  | (RenderedImage & {
      readonly kind: "made";
      readonly id: string;
      readonly objectKey: string;
      readonly sha256: string;
    })
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface RenditionRow {
  readonly id: string;
  readonly plan: string;
  readonly status: "making" | "made" | "refused";
  readonly objectKey: string | null;
  readonly contentType: RenditionPlan["contentType"] | null;
  readonly bytes: number | null;
  readonly sha256: string | null;
  readonly width: number | null;
  readonly height: number | null;
  readonly refusal: string | null;
}

export function toStoredRendition(row: RenditionRow): StoredRendition | undefined {
  const { status, id, objectKey, contentType, bytes, sha256, width, height, refusal } = row;
  if (status === "making") return undefined;
  // A newer release may have stored a refusal that this release does not know.
  if (status === "refused")
    return { kind: "refused", refusal: isRefusal(refusal) ? refusal : "unreadable" };
  if (objectKey === null || contentType === null || sha256 === null) return undefined;
  if (bytes === null || width === null || height === null) return undefined;
  return { kind: "made", id, objectKey, contentType, bytes, sha256, width, height };
}

/** By the text of their plan. */
export function toStoredRenditions(
  rows: readonly RenditionRow[],
): ReadonlyMap<string, StoredRendition> {
  return new Map(
    rows.flatMap((row) => {
      const stored = toStoredRendition(row);
      return stored === undefined ? [] : [[row.plan, stored]];
    }),
  );
}

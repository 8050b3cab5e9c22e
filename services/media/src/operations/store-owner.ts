import { compareDeployments, type Deployment } from "@postrider/shared/deployment/ownership";
import type { StoreMarker } from "#src/storage/store-marker.ts";

export type StoreOwner =
  | { readonly kind: "own" }
  | { readonly kind: "foreign"; readonly marker: StoreMarker }
  | { readonly kind: "unreadable" }
  /** Without a marker, and with files that may be older than this deployment. */
  | { readonly kind: "unmarked" }
  /** Without a marker and without the files that it had: it is not mounted, or was lost. */
  | { readonly kind: "files_missing" };

export function permits({ kind }: StoreOwner): boolean {
  return kind === "own" || kind === "unmarked";
}

export function describeHold({ kind }: StoreOwner): string {
  return kind === "files_missing"
    ? "uploads are refused, and posts with media wait, because the object store has neither a marker nor the files that the database names. Mount its disk, correct the settings, or restore it; if the files are lost, run `postrider storage adopt`"
    : "no stored files are deleted, because the object store is not marked as this deployment's. Give this deployment its own object store, or run `postrider storage adopt`";
}

export function ownerOf(marker: StoreMarker | "unreadable", current: Deployment): StoreOwner {
  if (marker === "unreadable") return { kind: "unreadable" };
  return compareDeployments(marker, current).kind === "own"
    ? { kind: "own" }
    : { kind: "foreign", marker };
}

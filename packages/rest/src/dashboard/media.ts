import { Type, type Static } from "typebox";
import { BoundedCount, NextCursor } from "#src/dashboard/parts.ts";
import { ReadyMedia } from "#src/media/schemas.ts";

/** A file that is ready. `url` is signed and shows the file itself. */
export const LibraryMedia = Type.Object({
  ...ReadyMedia.properties,
  /** Posts that use it, drafts included; exact up to 1,000. */
  usedIn: BoundedCount,
});

/** `GET /app/api/media?kind=&unused=&withoutAltText=&limit=&cursor=`: newest first. */
export const MediaLibrary = Type.Object({
  media: Type.Array(LibraryMedia),
  nextCursor: NextCursor,
  storage: Type.Object({
    usedBytes: Type.Integer(),
    /** Of uploads that have begun. */
    reservedBytes: Type.Integer(),
    limitBytes: Type.Integer(),
  }),
});

export type LibraryMediaJson = Static<typeof LibraryMedia>;
export type MediaLibraryJson = Static<typeof MediaLibrary>;

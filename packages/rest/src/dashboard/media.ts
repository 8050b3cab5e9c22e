import { Type, type Static } from "typebox";
import { BoundedCount, NextCursor } from "#src/dashboard/parts.ts";
import { ReadyMedia } from "#src/media/schemas.ts";

/** A file that is ready. `url` is signed and shows the file itself. */
export const LibraryMedia = Type.Object({
  ...ReadyMedia.properties,
  /** Posts that use it, drafts included; exact up to 1,000. */
  usedIn: BoundedCount,
  /**
   * The files that were made of it for platforms that do not take it as it is; null before any
   * platform may have received it.
   */
  sentAs: Type.Union([
    Type.Array(
      Type.Object({
        contentType: Type.String(),
        width: Type.Integer(),
        height: Type.Integer(),
        bytes: Type.Integer(),
      }),
    ),
    Type.Null(),
  ]),
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

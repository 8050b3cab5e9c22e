import type { PostOption } from "@postrider/client";
import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { sampleJpeg, sampleMp4 } from "#src/demo/sample-media.ts";
import type { LocalAccount } from "#src/stack/local-file.ts";

type Kind = "text" | "image" | "video";

export interface DemoFile {
  readonly fileName: string;
  readonly contentType: string;
  readonly data: Uint8Array<ArrayBuffer>;
}

export interface DemoPiece {
  readonly kind: Kind;
  readonly content: string;
  readonly accountIds: readonly string[];
  readonly file?: DemoFile;
  readonly options: Readonly<Record<string, PostOption>>;
}

/**
 * The options that a platform requires of every post, by platform. Other platforms require none.
 */
const DEMANDS: Readonly<Partial<Record<PlatformId, PostOption>>> = {
  youtube: { title: "A video from Postrider" },
  tiktok: { privacy: "public" },
};

/** The API refuses the options of a platform without a target. */
function demandsOf(
  accounts: readonly LocalAccount[],
  accountIds: readonly string[],
): DemoPiece["options"] {
  const platforms = new Set<string>(
    accounts.filter(({ id }) => accountIds.includes(id)).map(({ platform }) => platform),
  );
  return Object.fromEntries(
    Object.entries(DEMANDS).filter(([platform]) => platforms.has(platform)),
  );
}

export function takers(accounts: readonly LocalAccount[], kind: Kind): readonly string[] {
  return accounts
    .filter(
      ({ platform }) =>
        isPlatformId(platform) && PLATFORM_FACTS[platform].rules.kinds.includes(kind),
    )
    .map(({ id }) => id);
}

/** Texts differ in each run, because platforms would refuse equal content as a duplicate. */
export function demoPieces(accounts: readonly LocalAccount[], now: Date): readonly DemoPiece[] {
  const from = `from Postrider, ${now.toISOString()}`;
  // The picture is a JPEG, because this is the only image type that every platform accepts.
  const picture = { fileName: "picture.jpg", contentType: "image/jpeg", data: sampleJpeg() };
  // The smallest video that TikTok accepts.
  const data = sampleMp4({ seconds: 3, width: 368, height: 368 });
  const video = { fileName: "video.mp4", contentType: "video/mp4", data };
  const pieces: readonly Omit<DemoPiece, "accountIds" | "options">[] = [
    { kind: "text", content: `Hello ${from}` },
    { kind: "image", content: `A picture ${from}`, file: picture },
    { kind: "video", content: `A video ${from}`, file: video },
  ];
  return pieces
    .map((piece) => {
      const accountIds = takers(accounts, piece.kind);
      return { ...piece, accountIds, options: demandsOf(accounts, accountIds) };
    })
    .filter(({ accountIds }) => accountIds.length > 0);
}

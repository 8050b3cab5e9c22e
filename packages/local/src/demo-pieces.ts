import { isPlatformId, PLATFORMS } from "@postrider/shared/platforms/registry";
import type { DemoFile } from "#src/demo-api.ts";
import type { LocalAccount } from "#src/local-file.ts";
import { sampleMp4, samplePng } from "#src/sample-media.ts";

type Kind = "text" | "image" | "video";

/** One post of the demo, with the accounts whose platforms take its kind. */
export interface DemoPiece {
  readonly kind: Kind;
  readonly content: string;
  readonly accountIds: readonly string[];
  /** Absent when it is a text alone. */
  readonly file?: DemoFile;
}

function takers(accounts: readonly LocalAccount[], kind: Kind): readonly string[] {
  return accounts
    .filter(({ platform }) => isPlatformId(platform) && PLATFORMS[platform].kinds.includes(kind))
    .map(({ id }) => id);
}

/** What the demo publishes; no two runs publish the same, which would be a duplicate. */
export function demoPieces(accounts: readonly LocalAccount[], now: Date): readonly DemoPiece[] {
  const from = `from Postrider, ${now.toISOString()}`;
  const picture = { fileName: "picture.png", contentType: "image/png", bytes: samplePng() };
  const film = { fileName: "film.mp4", contentType: "video/mp4", bytes: sampleMp4({ seconds: 3 }) };
  const pieces: readonly Omit<DemoPiece, "accountIds">[] = [
    { kind: "text", content: `Hello ${from}` },
    { kind: "image", content: `A picture ${from}`, file: picture },
    { kind: "video", content: `A film ${from}`, file: film },
  ];
  return pieces
    .map((piece) => ({ ...piece, accountIds: takers(accounts, piece.kind) }))
    .filter(({ accountIds }) => accountIds.length > 0);
}

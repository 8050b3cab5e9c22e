import type { PlatformId } from "@postrider/client";
import css from "./platform-tile.module.css";

/** Monograms and names of the platforms; names of products are the same in every language. */
export const PLATFORMS: Readonly<Record<PlatformId, { mark: string; name: string }>> = {
  instagram: { mark: "Ig", name: "Instagram" },
  x: { mark: "X", name: "X" },
  facebook: { mark: "Fb", name: "Facebook" },
  tiktok: { mark: "Tk", name: "TikTok" },
  youtube: { mark: "Yt", name: "YouTube" },
  telegram: { mark: "Te", name: "Telegram" },
  bluesky: { mark: "Bs", name: "Bluesky" },
};

/** The monogram of a platform: neutral, because the colours of this page mean states. */
export function PlatformTile({ platform }: { readonly platform: PlatformId }) {
  const { mark, name } = PLATFORMS[platform];
  return (
    <span className={css.tile} title={name} aria-hidden="true">
      {mark}
    </span>
  );
}

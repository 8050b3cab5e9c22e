import { Image } from "lucide-react";
import { useState } from "react";
import { classNames } from "../kit/class-names.ts";
import { previewPath } from "../media/preview-path.ts";
import css from "./thumbnail.module.css";

/** The small picture of a post in a list; a sign for a video, and where there is no picture. */
export function Thumbnail({ mediaId }: { readonly mediaId: string }) {
  const [failedId, setFailedId] = useState<string>();
  if (mediaId !== failedId)
    return (
      <img
        className={css.thumbnail}
        src={previewPath(mediaId)}
        alt=""
        loading="lazy"
        decoding="async"
        onError={() => setFailedId(mediaId)}
      />
    );
  return (
    <span className={classNames(css.thumbnail, css.unknown)}>
      <Image className="i i-s" aria-hidden="true" />
    </span>
  );
}

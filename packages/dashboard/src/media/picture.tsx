import { FileImage, FileVideo, Play } from "lucide-react";
import { useState } from "react";
import { classNames } from "../kit/class-names.ts";
import { mediaSource } from "../posts/media-source.ts";
import { useSession } from "../session/session-context.ts";
import { useWords } from "../words/use-words.ts";
import { mediaWords } from "./media-words.ts";
import css from "./media.module.css";
import { durationText } from "./upload-state.ts";

interface PictureProps {
  /** Undefined while it is not known. */
  readonly url: string | undefined;
  readonly kind: "image" | "video";
  readonly altText?: string | null | undefined;
  readonly durationMs?: number | null;
  readonly className?: string | undefined;
}

/** A picture, or the first frame of a video with its length; an icon where it cannot be shown. */
export function Picture({ durationMs = null, className, ...content }: PictureProps) {
  return (
    <span className={classNames(css.picture, className)}>
      <Content {...content} />
      {durationMs !== null && (
        <span className={classNames(css.length, "num")}>
          <Play className="i i-s" aria-hidden="true" />
          {durationText(durationMs)}
        </span>
      )}
    </span>
  );
}

function Content({ url, kind, altText }: PictureProps) {
  const words = useWords(mediaWords);
  const { uploadOrigins } = useSession();
  const [failedUrl, setFailedUrl] = useState<string>();
  const fail = () => setFailedUrl(url);
  if (url === undefined || url === failedUrl)
    return <NoPicture kind={kind} label={altText ?? words.notThere} />;
  const label = altText ?? words.noDescription;
  const isLocal = url.startsWith("blob:");
  const source = isLocal ? url : mediaSource(url, location.origin, uploadOrigins);
  if (kind === "video")
    return (
      <video src={source} aria-label={label} preload="metadata" muted playsInline onError={fail} />
    );
  return (
    <img
      src={source}
      alt={label}
      loading="lazy"
      decoding="async"
      draggable={false}
      onError={fail}
    />
  );
}

function NoPicture({ kind, label }: { readonly kind: "image" | "video"; readonly label: string }) {
  const Icon = kind === "video" ? FileVideo : FileImage;
  return (
    <span role="img" aria-label={label} className={css.none}>
      <Icon className="i i-l" aria-hidden="true" />
    </span>
  );
}

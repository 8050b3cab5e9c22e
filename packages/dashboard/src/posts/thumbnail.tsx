import { Image } from "lucide-react";
import { classNames } from "../kit/class-names.ts";
import { useSession } from "../session/session-context.ts";
import { mediaSource } from "./media-source.ts";
import css from "./thumbnail.module.css";

interface PictureProps {
  readonly url: string;
  readonly kind: string;
  readonly altText: string | null;
  readonly className?: string | undefined;
}

/** What a list needs to know of a file. */
export type ListMedia = Pick<PictureProps, "url" | "kind">;

/** A picture, or the first frame of a video; what cannot be shown is a ground. */
export function Picture({ url, kind, altText, className }: PictureProps) {
  const { uploadOrigins } = useSession();
  const name = classNames(css.picture, className);
  const source = mediaSource(url, location.origin, uploadOrigins);
  return kind === "video" ? (
    <video
      className={name}
      src={`${source}#t=0.1`}
      preload="metadata"
      muted
      aria-label={altText ?? ""}
    />
  ) : (
    <img className={name} src={source} alt={altText ?? ""} loading="lazy" decoding="async" />
  );
}

/** The small picture of a post in a list; a sign where the file is older than the newest ones. */
export function Thumbnail({ media }: { readonly media: ListMedia | undefined }) {
  if (media !== undefined) return <Picture {...media} altText={null} className={css.thumbnail} />;
  return (
    <span className={classNames(css.thumbnail, css.unknown)}>
      <Image className="i i-s" aria-hidden="true" />
    </span>
  );
}

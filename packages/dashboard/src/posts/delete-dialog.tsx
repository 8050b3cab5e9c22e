import type { PlatformId, PostStatus, TargetStatus } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { api } from "../api/api.ts";
import { ConfirmDialog } from "../kit/confirm-dialog.tsx";
import { PLATFORMS, PlatformTile } from "../kit/platform-tile.tsx";
import { showToast } from "../kit/toast.tsx";
import { useWords } from "../words/use-words.ts";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";

/** What a list and the page of a post both know of it. */
interface DeletablePost {
  readonly id: string;
  readonly status: PostStatus;
  readonly targets: readonly { readonly platform: PlatformId; readonly status: TargetStatus }[];
}

interface Effect {
  readonly deleted: readonly PlatformId[];
  readonly kept: readonly PlatformId[];
  readonly neverSent: readonly PlatformId[];
}

/** What a deletion does on each platform, before it is done. */
function effectOf(post: DeletablePost, canDelete: (platform: PlatformId) => boolean): Effect {
  const published = post.targets.filter(({ status }) =>
    ["published", "delete_failed"].includes(status),
  );
  return {
    deleted: published.flatMap(({ platform }) => (canDelete(platform) ? [platform] : [])),
    kept: published.flatMap(({ platform }) => (canDelete(platform) ? [] : [platform])),
    neverSent: post.targets
      .filter(({ status }) => ["pending", "failed"].includes(status))
      .map(({ platform }) => platform),
  };
}

interface DeleteDialogProps {
  readonly post: DeletablePost;
  readonly onClose: () => void;
  readonly onDeleted?: (() => void) | undefined;
}

/** Says what really happens on each platform, and asks once. */
export function DeleteDialog({ post, onClose, onDeleted }: DeleteDialogProps) {
  const words = useWords(postWords).remove;
  const platforms = useQuery(postsApi.platforms()).data?.platforms;
  const effect = effectOf(
    post,
    (id) => platforms?.find((platform) => platform.id === id)?.rules.delete.supported ?? true,
  );
  const isDraft = post.status === "draft" || post.status === "scheduled";
  const remove = async () => {
    await api.deletePost(post.id);
    if (isDraft) showToast(words.gone);
    onClose();
    onDeleted?.();
  };
  return (
    <ConfirmDialog
      title={isDraft ? words.draftTitle : words.title}
      confirm={labelOf(effect, words)}
      keep={words.keep}
      act={remove}
      onClose={onClose}
    >
      {isDraft ? <p className="sm quiet">{words.draftHint}</p> : <EffectList effect={effect} />}
    </ConfirmDialog>
  );
}

function labelOf({ deleted, kept }: Effect, words: (typeof postWords)["en"]["remove"]): string {
  if (deleted.length === 0) return words.delete;
  if (kept.length === 0) return words.deleteFrom(deleted.length);
  return words.deleteFromKeep(deleted.length, kept.length);
}

function EffectList({ effect: { deleted, kept, neverSent } }: { readonly effect: Effect }) {
  const words = useWords(postWords).remove;
  return (
    <>
      <ul className="sm stack-s">
        {deleted.length > 0 && (
          <EffectLine platforms={deleted}>
            {deleted.length === 1 ? words.deletedOne : words.deleted}
          </EffectLine>
        )}
        {kept.map((platform) => (
          <EffectLine key={platform} platforms={[platform]}>
            {words.stays(PLATFORMS[platform].name)}
          </EffectLine>
        ))}
        {neverSent.length > 0 && (
          <EffectLine platforms={neverSent}>
            {neverSent.length === 1 ? words.neverSent : words.neverSentMany}
          </EffectLine>
        )}
      </ul>
      <p className="sm quiet">{words.hint}</p>
    </>
  );
}

interface EffectLineProps {
  readonly platforms: readonly PlatformId[];
  readonly children: string;
}

function EffectLine({ platforms, children }: EffectLineProps) {
  return (
    <li className="row">
      {[...new Set(platforms)].map((platform) => (
        <PlatformTile key={platform} platform={platform} />
      ))}
      <span className="sr">{platforms.map((platform) => PLATFORMS[platform].name).join(", ")}</span>
      <span>{children}</span>
    </li>
  );
}

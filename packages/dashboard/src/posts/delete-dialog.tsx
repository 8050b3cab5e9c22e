import { type PlatformId, PostriderError } from "@postrider/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ConfirmDialog } from "../kit/confirm-dialog.tsx";
import { PLATFORMS, PlatformTile } from "../kit/platform-tile.tsx";
import { showToast } from "../kit/toast.tsx";
import { useWords } from "../words/use-words.ts";
import {
  type DeletablePost,
  deleteAsShown,
  type DeletionEffect,
  effectOf,
} from "./delete-as-shown.ts";
import { postWords } from "./post-words.ts";
import { postsApi } from "./posts-api.ts";
import { isChangedMeanwhile } from "./publish-now.ts";

interface DeleteDialogProps {
  readonly post: DeletablePost;
  readonly onClose: () => void;
  readonly onDeleted?: (() => void) | undefined;
}

/** Says what really happens on each platform, and asks once. */
export function DeleteDialog({ post, onClose, onDeleted }: DeleteDialogProps) {
  const words = useWords(postWords).remove;
  const client = useQueryClient();
  const platforms = useQuery(postsApi.platforms()).data?.platforms;
  const canDelete = (id: PlatformId) =>
    platforms?.find((platform) => platform.id === id)?.rules.delete.supported ?? true;
  const effect = effectOf(post, canDelete);
  const isDraft = effect.isPlanned;
  const remove = async () => {
    try {
      await deleteAsShown(post, canDelete);
    } catch (error) {
      if (isChangedMeanwhile(error)) void client.invalidateQueries({ queryKey: ["post"] });
      throw error;
    }
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
      errorTitle={(error) => errorTitleOf(error, words)}
      onClose={onClose}
    >
      {isDraft ? <p className="sm quiet">{words.draftHint}</p> : <EffectList effect={effect} />}
    </ConfirmDialog>
  );
}

type Words = (typeof postWords)["en"]["remove"];

function errorTitleOf(error: unknown, words: Words): string | undefined {
  if (isChangedMeanwhile(error)) return words.changed;
  const isSending = error instanceof PostriderError && error.code === "post_publishing";
  return isSending ? words.sending : undefined;
}

function labelOf({ deleted, kept }: DeletionEffect, words: Words): string {
  if (deleted.length === 0) return words.delete;
  if (kept.length === 0) return words.deleteFrom(deleted.length);
  return words.deleteFromKeep(deleted.length, kept.length);
}

function EffectList({ effect }: { readonly effect: DeletionEffect }) {
  const words = useWords(postWords).remove;
  const { deleted, kept, unknown, stopped, sending, neverSent } = effect;
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
        {[...new Set(unknown)].map((platform) => (
          <EffectLine key={`unknown ${platform}`} platforms={[platform]}>
            {words.unknown(PLATFORMS[platform].name)}
          </EffectLine>
        ))}
        {stopped.length > 0 && (
          <EffectLine platforms={stopped}>
            {stopped.length === 1 ? words.stopped : words.stoppedMany}
          </EffectLine>
        )}
        {sending.length > 0 && (
          <EffectLine platforms={sending}>
            {sending.length === 1 ? words.stoppedIfEarly : words.stoppedIfEarlyMany}
          </EffectLine>
        )}
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

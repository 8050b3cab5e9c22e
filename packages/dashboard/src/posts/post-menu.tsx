import type { PostDetail, PostSummary } from "@postrider/client";
import {
  Copy,
  CopyPlus,
  Eye,
  type LucideIcon,
  MoveRight,
  RotateCcw,
  Send,
  SquarePen,
  Trash2,
} from "lucide-react";
import { type MouseEvent, useState } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "wouter";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { DotsButton, Menu, type MenuItem } from "../kit/menu.tsx";
import { showToast } from "../kit/toast.tsx";
import { useAct } from "../kit/use-act.ts";
import { useCan } from "../session/session-context.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import { retryPost } from "./failed-targets.ts";
import { MoveDialog } from "./move-dialog.tsx";
import { isPlanned } from "./move-post.ts";
import { postWords } from "./post-words.ts";
import { PublishChangedDialog } from "./publish-changed-dialog.tsx";
import { isChangedMeanwhile, publishNow } from "./publish-now.ts";
import { useMoveLabel } from "./use-move-label.ts";

type Open = "move" | "delete";

interface PostMenuProps {
  readonly post: PostSummary | PostDetail;
}

/**
 * What can be done with a post, as far as its state and the session allow it. Only its button is
 * there until it is pressed: a list has one in each row.
 */
export function PostMenu({ post }: PostMenuProps) {
  const words = useWords(postWords);
  const [isPressed, setPressed] = useState(false);
  if (isPressed) return <PressedMenu post={post} />;
  const press = ({ currentTarget: { parentElement } }: MouseEvent) => {
    flushSync(() => setPressed(true));
    const button = parentElement?.querySelector<HTMLElement>("[aria-haspopup=menu]");
    // Where the focus is when the menu opens, there it is again when it closes.
    button?.focus();
    button?.click();
  };
  return <DotsButton label={words.moreActions} aria-expanded={false} onClick={press} />;
}

function PressedMenu({ post }: PostMenuProps) {
  const words = useWords(postWords);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const publish = useAct(async () => {
    await publishNow(post);
    showToast(words.published);
  });
  const retry = useAct(async () => {
    showToast(words.retried(await retryPost(post)));
  });
  const items = useItems(post, { setOpen, publish: publish.run, retry: retry.run });
  const isChanged = isChangedMeanwhile(publish.error);
  const failed = isChanged ? undefined : [publish, retry].find(({ error }) => error !== undefined);
  return (
    <>
      <Menu label={words.moreActions} items={items} />
      {open === "move" && <MoveDialog post={post} onClose={close} />}
      {open === "delete" && <DeleteDialog post={post} onClose={close} />}
      {isChanged && <PublishChangedDialog seen={post} onClose={publish.clear} />}
      {failed && <Refused error={failed.error} onClose={failed.clear} />}
    </>
  );
}

interface Actions {
  readonly setOpen: (open: Open) => void;
  readonly publish: () => void;
  readonly retry: () => void;
}

function useItems(post: PostSummary | PostDetail, actions: Actions): readonly (MenuItem | null)[] {
  const words = useWords(postWords);
  const [, navigate] = useLocation();
  const canWrite = useCan()("posts:write");
  const { id, status } = post;
  const isHurt = status === "failed" || status === "partial";
  const move = useMoveLabel(post);
  const when = (isShown: boolean, label: string, icon: LucideIcon, onChoose: () => void) =>
    canWrite && isShown ? [{ label, icon, onChoose }] : [];
  return [
    { label: words.open, icon: Eye, onChoose: () => navigate(`/posts/${id}`) },
    ...when(isPlanned(post), words.edit, SquarePen, () => navigate(`/posts/${id}/edit`)),
    ...when(isPlanned(post), move, MoveRight, () => actions.setOpen("move")),
    ...when(isPlanned(post), words.publishNow, Send, actions.publish),
    ...when(isHurt, words.retryAll, RotateCcw, actions.retry),
    ...when(true, words.useAgain, CopyPlus, () => navigate(`/posts/new?from=${id}`)),
    { label: words.copyId, icon: Copy, onChoose: () => void navigator.clipboard.writeText(id) },
    ...(canWrite
      ? [
          null,
          {
            label: words.delete,
            icon: Trash2,
            danger: true,
            onChoose: () => actions.setOpen("delete"),
          },
        ]
      : []),
  ];
}

function Refused({ error, onClose }: { readonly error: unknown; readonly onClose: () => void }) {
  const words = useWords(kitWords);
  return (
    <Dialog
      title={words.nothingHarmed}
      onClose={onClose}
      footer={
        <Button kind="primary" onClick={onClose}>
          {words.close}
        </Button>
      }
    >
      <ErrorNotice error={error} />
    </Dialog>
  );
}

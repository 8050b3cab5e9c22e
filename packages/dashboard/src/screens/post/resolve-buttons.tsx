import type { ResolveTargetBodyJson } from "@postrider/rest/dashboard/cures";
import { type ReactNode, useId, useState } from "react";
import { Button } from "../../kit/button.tsx";
import { Dialog } from "../../kit/dialog.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { Field, Input } from "../../kit/field.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { useAct } from "../../kit/use-act.ts";
import type { Failure } from "../../posts/cure-button.tsx";
import { postsApi } from "../../posts/posts-api.ts";
import { kitWords } from "../../words/kit-words.ts";
import { useWords } from "../../words/use-words.ts";
import { detailWords } from "./detail-words.ts";

interface ResolveProps {
  readonly failure: Failure;
}

/** What a person saw on the platform, where the outcome of an attempt is not known. */
export function ResolveButtons({ failure }: ResolveProps) {
  const words = useWords(detailWords);
  // As it was when the dialog was opened: what the person saw is not about a later attempt.
  const [open, setOpen] = useState<{ readonly as: "there" | "not"; readonly seen: Failure }>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Button onClick={() => setOpen({ as: "there", seen: failure })}>{words.itIsThere}</Button>
      <Button onClick={() => setOpen({ as: "not", seen: failure })}>{words.itIsNot}</Button>
      {open?.as === "there" && <ThereDialog failure={open.seen} onClose={close} />}
      {open?.as === "not" && <NotDialog failure={open.seen} onClose={close} />}
    </>
  );
}

async function resolve(
  { postId, accountId, attemptCount }: Failure,
  body: Omit<ResolveTargetBodyJson, "attemptCount">,
): Promise<void> {
  const seen = attemptCount === undefined ? {} : { attemptCount };
  await postsApi.resolve(postId, accountId, { ...body, ...seen });
}

interface ResolveDialogProps extends ResolveProps {
  readonly onClose: () => void;
}

function ThereDialog({ failure, onClose }: ResolveDialogProps) {
  const words = useWords(detailWords);
  const [link, setLink] = useState("");
  const [isLeft, setLeft] = useState(false);
  const form = useId();
  const url = link.trim();
  const fault = isLeft && !isAddress(url) ? words.linkFault : undefined;
  const { run, isBusy, error } = useAct(async () => {
    await resolve(failure, { published: true, url });
    onClose();
  });
  return (
    <ResolveDialog
      title={words.thereTitle(PLATFORMS[failure.platform].name)}
      hint={words.thereHint}
      error={error}
      onClose={onClose}
      action={
        <Button kind="primary" type="submit" form={form} busy={isBusy}>
          {words.saveThere}
        </Button>
      }
    >
      <form
        id={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setLeft(true);
          if (isAddress(url)) run();
        }}
      >
        <Field label={words.link} hint={words.linkHint} error={fault}>
          {(control) => (
            <Input
              {...control}
              type="url"
              inputMode="url"
              placeholder="https://"
              value={link}
              onChange={({ target }) => setLink(target.value)}
              onBlur={() => setLeft(link !== "")}
            />
          )}
        </Field>
      </form>
    </ResolveDialog>
  );
}

function isAddress(url: string): boolean {
  return url.startsWith("https://") && URL.parse(url) !== null;
}

function NotDialog({ failure, onClose }: ResolveDialogProps) {
  const words = useWords(detailWords);
  const { run, isBusy, error } = useAct(async () => {
    await resolve(failure, { published: false });
    onClose();
  });
  return (
    <ResolveDialog
      title={words.notTitle(PLATFORMS[failure.platform].name)}
      hint={words.notHint}
      error={error}
      onClose={onClose}
      action={
        <Button kind="primary" busy={isBusy} onClick={run}>
          {words.saveNot}
        </Button>
      }
    />
  );
}

interface FrameProps {
  readonly title: string;
  readonly hint: string;
  readonly error: unknown;
  readonly action: ReactNode;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

function ResolveDialog({ title, hint, error, action, onClose, children }: FrameProps) {
  const words = useWords(kitWords);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          {action}
        </>
      }
    >
      <p className="sm quiet">{hint}</p>
      {children}
      {error !== undefined && <ErrorNotice error={error} />}
    </Dialog>
  );
}

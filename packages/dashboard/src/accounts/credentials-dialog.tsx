import type { Account } from "@postrider/client";
import { useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useId, useState } from "react";
import { Button } from "../kit/button.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { ErrorNotice } from "../kit/error-notice.tsx";
import { Field, Input } from "../kit/field.tsx";
import { PLATFORMS } from "../kit/platform-tile.tsx";
import { useAct } from "../kit/use-act.ts";
import { kitWords } from "../words/kit-words.ts";
import { useWords } from "../words/use-words.ts";
import { connectApi, type CredentialPlatform, CREDENTIALS } from "./connect-api.ts";
import { connectWords, type connectEn } from "./connect-words.ts";

interface CredentialsDialogProps {
  readonly platform: CredentialPlatform;
  readonly account?: { readonly username: string } | undefined;
  readonly onClose: () => void;
  readonly onConnected: (account: Account) => Promise<void> | void;
}

/** Asks for what connects an account of Bluesky or Telegram. */
export function CredentialsDialog(props: CredentialsDialogProps) {
  const { platform, account, onClose, onConnected } = props;
  const words = useWords(connectWords);
  const kit = useWords(kitWords);
  const client = useQueryClient();
  const form = useId();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [isSent, setSent] = useState(false);
  const names: readonly string[] = CREDENTIALS[platform];
  const isComplete = names.every((name) => (values[name] ?? "").trim() !== "");
  const { run, isBusy, error } = useAct(async () => {
    const login = Object.fromEntries(names.map((name) => [name, values[name]?.trim() ?? ""]));
    const connected = await connectApi.connect({ platform, login });
    await client.invalidateQueries({ queryKey: ["account"] });
    await onConnected(connected);
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setSent(true);
    if (isComplete) run();
  };
  return (
    <Dialog
      title={titleOf(props, words)}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button kind="primary" type="submit" form={form} busy={isBusy}>
            {account === undefined ? words.connect : words.connectAgain}
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        {names.map((field) => (
          <Credential
            key={field}
            name={field}
            value={values[field] ?? ""}
            isSent={isSent}
            onChange={(value) => setValues({ ...values, [field]: value })}
          />
        ))}
      </form>
      <p className="hint">{words.kept}</p>
      {error !== undefined && <ErrorNotice error={error} />}
    </Dialog>
  );
}

function titleOf({ platform, account }: CredentialsDialogProps, words: typeof connectEn): string {
  const { name } = PLATFORMS[platform];
  return account === undefined ? words.title(name) : words.again(name, account.username);
}

interface CredentialProps {
  readonly name: string;
  readonly value: string;
  readonly isSent: boolean;
  readonly onChange: (value: string) => void;
}

const SECRET: ReadonlySet<string> = new Set(["appPassword", "botToken"]);

function Credential({ name, value, isSent, onChange }: CredentialProps) {
  const words = useWords(connectWords);
  const texts: Readonly<Record<string, readonly [label: string, hint: string]>> = {
    identifier: [words.handle, words.handleHint],
    appPassword: [words.appPassword, words.appPasswordHint],
    chatId: [words.chat, words.chatHint],
    botToken: [words.botToken, words.botTokenHint],
  };
  const [label, hint] = texts[name] ?? [name, ""];
  return (
    <Field
      label={label}
      hint={hint}
      error={isSent && value.trim() === "" ? words.missing : undefined}
    >
      {(control) => (
        <Input
          {...control}
          type={SECRET.has(name) ? "password" : "text"}
          autoCapitalize="none"
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

import type { Account, AccountSettings, AccountSettingsPatch } from "@postrider/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Info } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/api.ts";
import { queryClient } from "../../api/query-client.ts";
import { Button } from "../../kit/button.tsx";
import { Note } from "../../kit/card.tsx";
import { DiscardDialog } from "../../kit/confirm-dialog.tsx";
import { Drawer } from "../../kit/dialog.tsx";
import { Skeleton } from "../../kit/empty-state.tsx";
import { ErrorNotice } from "../../kit/error-notice.tsx";
import { showToast } from "../../kit/toast.tsx";
import { accountLabelOf } from "../../posts/account-name.ts";
import { useCan } from "../../session/session-context.ts";
import { useWords } from "../../words/use-words.ts";
import {
  defaultsOf,
  faultsByName,
  patchOf,
  type SettingValues,
  valuesOf,
} from "./account-setting.ts";
import { SettingFields } from "./setting-fields.tsx";
import { settingWords } from "./setting-words.ts";

interface SettingsDrawerProps {
  readonly account: Account;
  readonly onClose: () => void;
}

const keyOf = (id: string) => ["account", id, "settings"];

/** The settings of an account, beside the list. TikTok is asked what it offers each time. */
export function SettingsDrawer({ account, onClose }: SettingsDrawerProps) {
  const words = useWords(settingWords);
  const { id } = account;
  const { data, error, refetch } = useQuery({
    queryKey: keyOf(id),
    queryFn: ({ signal }) => api.getAccountSettings(id, {}, { signal }),
    staleTime: 0,
  });
  if (data !== undefined) return <Editor account={account} read={data} onClose={onClose} />;
  return (
    <Drawer title={words.title(accountLabelOf(account))} onClose={onClose}>
      {error === null ? <Skeleton /> : <ErrorNotice error={error} onRetry={() => void refetch()} />}
    </Drawer>
  );
}

interface EditorProps extends SettingsDrawerProps {
  readonly read: AccountSettings;
}

/** Esc asks only if something was changed. */
function Editor({ account, read, onClose }: EditorProps) {
  const words = useWords(settingWords);
  const canWrite = useCan()("accounts:write");
  const draft = useSettingDraft(account, read, onClose);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Drawer
        title={words.title(accountLabelOf(account))}
        onClose={() => (draft.isChanged ? setAsking(true) : onClose())}
        footer={
          canWrite && (
            <>
              <Button kind="ghost" onClick={draft.reset}>
                {words.reset}
              </Button>
              <Button kind="primary" className="push" busy={draft.isBusy} onClick={draft.save}>
                {words.save}
              </Button>
            </>
          )
        }
      >
        <div className="stack">
          <Note tone="info" icon={Info}>
            {canWrite ? words.holds : words.readOnly}
          </Note>
          <SettingFields
            read={read}
            values={draft.values}
            faults={draft.faults}
            isReadOnly={!canWrite}
            onChange={draft.change}
          />
          {draft.error !== null && draft.faults === undefined && (
            <ErrorNotice error={draft.error} />
          )}
        </div>
      </Drawer>
      {isAsking && <DiscardDialog onKeep={() => setAsking(false)} onDiscard={onClose} />}
    </>
  );
}

/** What is read again while the drawer is open changes no field of it. */
function useSettingDraft({ id, platform }: Account, read: AccountSettings, onClose: () => void) {
  const words = useWords(settingWords);
  const [before, setBefore] = useState(() => valuesOf(read));
  const [values, setValues] = useState<SettingValues>(before);
  const saving = useMutation({
    mutationFn: (changes: AccountSettingsPatch) => api.updateAccountSettings(id, changes),
    onSuccess: (answer) => queryClient.setQueryData(keyOf(id), answer),
  });
  const changes = patchOf(before, values);
  const isChanged = Object.keys(changes).length > 0;
  const whenSaved = () => {
    showToast(words.saved);
    onClose();
  };
  const whenReset = (answer: AccountSettings) => {
    setBefore(valuesOf(answer));
    setValues(valuesOf(answer));
    showToast(words.wereReset);
  };
  return {
    values,
    isChanged,
    isBusy: saving.isPending,
    error: saving.error,
    faults: faultsByName(saving.error, ({ code, message }) =>
      code === "not_allowed" ? words.notOffered : message,
    ),
    change: (changed: SettingValues) => {
      setValues({ ...values, ...changed });
      saving.reset();
    },
    save: () => (isChanged ? saving.mutate(changes, { onSuccess: whenSaved }) : onClose()),
    reset: () => saving.mutate(defaultsOf(platform), { onSuccess: whenReset }),
  };
}

import type { Account } from "@postrider/client";
import { api } from "../../api/api.ts";
import { queryClient } from "../../api/query-client.ts";
import { ConfirmDialog } from "../../kit/confirm-dialog.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { showToast } from "../../kit/toast.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { useWords } from "../../words/use-words.ts";
import { accountsWords } from "./accounts-words.ts";

interface DisconnectDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

export function DisconnectDialog({ account, onClose }: DisconnectDialogProps) {
  const words = useWords(accountsWords);
  const { id, platform } = account;
  const name = accountNameOf(account);
  const disconnect = async () => {
    await api.disconnectAccount(id);
    showToast(words.disconnected(name));
    onClose();
    await queryClient.invalidateQueries();
  };
  return (
    <ConfirmDialog
      title={words.disconnectTitle(name, PLATFORMS[platform].name)}
      confirm={words.disconnectNow}
      act={disconnect}
      onClose={onClose}
    >
      <p className="sm quiet">{words.disconnectText}</p>
    </ConfirmDialog>
  );
}

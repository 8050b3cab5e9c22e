import type { Account } from "@postrider/client";
import { useQuery } from "@tanstack/react-query";
import { ArrowUpRight, Check, Plug, SlidersHorizontal, Unplug, X } from "lucide-react";
import { useState } from "react";
import type { BeginConnect } from "../../accounts/use-connect.tsx";
import { api } from "../../api/api.ts";
import { Button } from "../../kit/button.tsx";
import { classNames } from "../../kit/class-names.ts";
import { Menu } from "../../kit/menu.tsx";
import { PLATFORMS } from "../../kit/platform-tile.tsx";
import { StatusLabel } from "../../kit/status.tsx";
import { Table } from "../../kit/table.tsx";
import { Time } from "../../kit/time.tsx";
import { accountNameOf } from "../../posts/account-name.ts";
import { AccountWho } from "../../posts/account-who.tsx";
import { profileUrlOf } from "../../posts/profile-url.ts";
import { useCan } from "../../session/session-context.ts";
import { useSettings } from "../../settings/settings.ts";
import { placeOf } from "../../time/place-names.ts";
import { useNow } from "../../time/use-now.ts";
import { useWords } from "../../words/use-words.ts";
import { accountsWords } from "./accounts-words.ts";
import css from "./accounts.module.css";
import { DisconnectDialog } from "./disconnect-dialog.tsx";
import { accessOf, healthOf, limitOf, sortByHealth } from "./health.ts";
import { settingWords } from "./setting-words.ts";
import { SettingsDrawer } from "./settings-drawer.tsx";

interface AccountTableProps {
  readonly accounts: readonly Account[];
  readonly onReconnect: BeginConnect;
}

export function AccountTable({ accounts, onReconnect }: AccountTableProps) {
  const words = useWords(accountsWords);
  const { zone, language } = useSettings();
  const [leaving, setLeaving] = useState<Account>();
  const [setting, setSetting] = useState<Account>();
  return (
    <>
      <Table label={words.title} className={css.table}>
        <thead>
          <tr>
            <th scope="col">{words.account}</th>
            <th scope="col">{words.health}</th>
            <th scope="col" className="not-s not-m">
              {words.can}
            </th>
            <th scope="col" className="not-s">
              {words.until(placeOf(zone, language))}
            </th>
            <th scope="col" className="not-s not-m">
              {words.limit}
            </th>
            <th scope="col">
              <span className="sr">{words.reconnect}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sortByHealth(accounts).map((account) => (
            <AccountRow
              key={account.id}
              account={account}
              onReconnect={() => onReconnect({ platform: account.platform, account })}
              onDisconnect={() => setLeaving(account)}
              onSettings={() => setSetting(account)}
            />
          ))}
        </tbody>
      </Table>
      {setting && <SettingsDrawer account={setting} onClose={() => setSetting(undefined)} />}
      {leaving && <DisconnectDialog account={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

interface AccountRowProps {
  readonly account: Account;
  readonly onReconnect: () => void;
  readonly onDisconnect: () => void;
  readonly onSettings: () => void;
}

function AccountRow({ account, onReconnect, onDisconnect, onSettings }: AccountRowProps) {
  const words = useWords(accountsWords);
  const { settings } = useWords(settingWords);
  const mayWrite = useCan()("accounts:write");
  const { id, platform, username } = account;
  const health = healthOf(account);
  const open = () => window.open(profileUrlOf(platform, username), "_blank", "noreferrer");
  const leave = { label: words.disconnect, icon: Unplug, danger: true, onChoose: onDisconnect };
  const items = [
    { label: settings, icon: SlidersHorizontal, onChoose: onSettings },
    { label: words.open(PLATFORMS[platform].name), icon: ArrowUpRight, onChoose: open },
    mayWrite ? leave : null,
  ];
  return (
    <tr>
      <td>
        <AccountWho id={id} username={username} platform={platform} />
      </td>
      <td>
        <HealthLabel health={health} />
      </td>
      <td className="not-s not-m">
        {health === "ended" ? (
          <span className="none">{words.nothing}</span>
        ) : (
          <Can account={account} />
        )}
      </td>
      <td className="not-s nowrap">
        <Access account={account} />
      </td>
      <td className="not-s not-m nowrap">
        <Limit id={id} />
      </td>
      <td className={classNames("end", css.actions)}>
        {mayWrite && health !== "works" && (
          <Button small icon={Plug} onClick={onReconnect}>
            {words.reconnect}
          </Button>
        )}
        {health === "works" && (
          <Button kind="ghost" small icon={SlidersHorizontal} onClick={onSettings}>
            {settings}
          </Button>
        )}
        <Menu label={words.more(accountNameOf(account))} items={items} />
      </td>
    </tr>
  );
}

function HealthLabel({ health }: { readonly health: ReturnType<typeof healthOf> }) {
  const words = useWords(accountsWords);
  if (health === "works") return <StatusLabel status="active">{words.works}</StatusLabel>;
  return (
    <StatusLabel loud status={health === "partly" ? "partial" : "failed"}>
      {words[health]}
    </StatusLabel>
  );
}

/** The long one comes last, so that the others fit on one line. */
const FEATURES = ["publishing", "comments", "metrics", "messages"] as const;

function Can({ account: { permissions } }: { readonly account: Account }) {
  const words = useWords(accountsWords);
  return (
    <span className={css.features}>
      {FEATURES.filter((feature) => permissions?.granted.includes(feature)).map((feature) => (
        <span key={feature}>
          <Check className="i i-s" aria-hidden="true" />
          {words.features[feature]}
        </span>
      ))}
      {permissions?.missing.map((feature) => (
        <span key={feature} className={css.missing}>
          <X className="i i-s" aria-hidden="true" />
          {words.missing(words.features[feature])}
        </span>
      ))}
    </span>
  );
}

function Access({ account }: { readonly account: Account }) {
  const words = useWords(accountsWords);
  const now = useNow();
  const { access, at } = accessOf(account, now.epochMilliseconds);
  return (
    <span className={classNames(access === "endsSoon" && css.soon, access === "over" && "muted")}>
      {at === null ? words[access] : <Time at={at} isPlaced={false} />}
    </span>
  );
}

function Limit({ id }: { readonly id: string }) {
  const words = useWords(accountsWords);
  const { language } = useSettings();
  const { data } = useQuery({
    queryKey: ["quota"],
    queryFn: ({ signal }) => api.getQuota({}, { signal }),
  });
  if (data === undefined) return null;
  const limit = limitOf(id, data.dailyLimits);
  if (limit === undefined) return <span className="muted">{words.noLimit}</span>;
  const numbers = new Intl.NumberFormat(language);
  return (
    <span className="num">
      {words.today(numbers.format(limit.used + limit.reserved), numbers.format(limit.limit))}
    </span>
  );
}

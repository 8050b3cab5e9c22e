-- One row per platform at which a limit of our app was used up. Publishing to the platform waits until `until` on all
-- accounts; `code` and `message` say why.
create table platform_limits (
  platform text primary key,
  until timestamptz not null,
  code text not null,
  message text not null
);

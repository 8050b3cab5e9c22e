alter table credentials
  -- Identifies the process that holds the refresh lease; null when the lease has ended properly. A lease that has expired
  -- while this is set was never ended: its process died, or has new tokens that it cannot store yet.
  add column refresh_lease_token uuid,
  -- The version whose refresh token the platform refused, if that was why the account needs a reconnect; otherwise null.
  -- Tokens that another process received for this version are still stored.
  add column given_up_version bigint;

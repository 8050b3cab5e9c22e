-- How far this database is on the way from tokens that are sealed to their row alone, as earlier releases seal them, to tokens
-- that are also bound to the row's workspace, platform, external id and attributes. One row.
create table sealing (
  only_row boolean primary key default true check (only_row),
  -- 'unbound': processes of the previous release may run, so texts are sealed as they do it. 'resealing': texts are sealed bound,
  -- and those that are not bound are still accepted. 'bound': texts that are not bound are refused.
  stage text not null check (stage in ('unbound', 'resealing', 'bound'))
);

-- The first process that starts inserts a row into deployment. Without one, no process of an earlier release knows this
-- database.
insert into sealing (stage)
select case
  when exists (select 1 from deployment)
    or exists (select 1 from credentials)
    or exists (select 1 from oauth_tickets)
  then 'unbound'
  else 'bound'
end;

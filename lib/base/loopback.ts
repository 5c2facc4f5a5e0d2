/** Proxies are for the network: a model server on this machine is asked directly, whatever `HTTP_PROXY` says. */
import { readEnvironment, withVariables } from "./environment.ts";

const PROXY_VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
const LOOPBACK = "localhost,127.0.0.1,::1";

/**
 * The runtime's `fetch`, which reads the proxy variables when it is first used: it is shown loopback among the
 * exceptions. Later calls change nothing, and commands that lait starts see the variables as they were.
 */
export function sendDirectly(url: string, init: RequestInit): Promise<Response> {
  if (PROXY_VARIABLES.every((name) => readEnvironment(name) === undefined)) return fetch(url, init);
  const exceptions = readEnvironment("NO_PROXY") ?? readEnvironment("no_proxy") ?? "";
  const all = exceptions === "" ? LOOPBACK : `${exceptions},${LOOPBACK}`;
  return withVariables({ NO_PROXY: all, no_proxy: all }, () => fetch(url, init));
}

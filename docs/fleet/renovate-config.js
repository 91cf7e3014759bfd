// The configuration of a self-hosted Renovate, beside what yours says already: commands run only if it allows them by a pattern.
// `mcp-migrate` has to be installed where Renovate runs.
module.exports = {
  allowedCommands: ["^mcp-migrate fix --allow-dirty --fail-on never$"],
};

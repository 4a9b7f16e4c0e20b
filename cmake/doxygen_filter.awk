# Doxygen reads every header through this: awk -f doxygen_filter.awk <header>
#
# It takes out the inline namespace of the build, turns shapes at the end of a line into
# documentation, and says where the meaning of a member stands that a concept asks for: a header that
# asserts `row_optimizer<sgd>` need not repeat what `update` does. Lines keep their numbers, so that
# a warning names the right one.

BEGIN {
  asked["admission"] = "check|state|admit|prepare|bytes|dropped"
  asked["batch_source"] = "size|fields|dense_width|read"
  asked["cache_policy"] = "slot_state|set_state|reset|on_insert|on_hit|on_evict|victim|prepare_hit|check"
  asked["codec"] = "max_bytes|encode|decode"
  asked["communicator"] = "rank|size|all_to_all_v|all_gather|all_reduce|broadcast|barrier|done|wait"
  asked["execution_stream"] = "submit|record|wait|drain"
  asked["id_mapper"] = "workspace|map|merge"
  asked["initialiser"] = "fill"
  asked["key_packing"] = "key"
  asked["network"] = "workspace|parameters|make_workspace|gradients|forward|backward"
  asked["pooling"] = "factor"
  asked["rate_schedule"] = "check|factor"
  asked["row_exchange"] = "state|request|owned|owned_counts|rows|gradients"
  asked["row_optimizer"] = "check|state_floats|reset|update"
  while ((getline line < ARGV[1]) > 0) {
    if (match(line, /^static_assert\([a-z_]+</)) {
      kept = substr(line, 15, RLENGTH - 15)
      if (kept in asked) concepts[kept] = "[ *&](" asked[kept] ")(\\(| \\{| =)"
    }
  }
  close(ARGV[1])
}

# A declaration among a class's members, as opposed to a statement.
function declares(line) {
  return line ~ /^ +(\[\[nodiscard\]\]|INLAY_HD|static|constexpr|void|struct|class|using|friend|iterator|done) ?/
}

function words(line) {
  if (line ~ /static constexpr [a-z_:]+( const)?[ *]+name = /)
    return "What reports and `one_of` call it."
  if (line ~ /^ +using (difference_type|value_type) = / || line ~ / operator(\*|\+\+)\(/)
    return "As an iterator has it."
  if (line ~ / operator==\(.*= default;/) return "True if all members are equal."
  if (FILENAME ~ /\/parts\.hpp$/ && line ~ /^  using [a-z]+_type = /) return "The type of the field."
  if (line ~ /^ +using key = /) return "How a row is named: (table, id), packed."
  if (line ~ /^ +\[\[nodiscard\]\].* (begin|end)\(\)/) return "For loops over all of it."
  for (kept in concepts)
    if (line ~ concepts[kept]) return "As `" kept "` asks."
  return ""
}

{
  sub(/^namespace inlay::inline INLAY_ABI/, "namespace inlay")
  sub(/^namespace inlay::testing::inline INLAY_ABI/, "namespace inlay::testing")
  if ($0 ~ /;  +\/\/ \(/) sub(/\/\/ \(/, "///< (")

  # Held back, since words about a template stand before its head.
  head = $0 ~ /^ +template <.*>$/
  if (!documented && $0 !~ /\/\/\/</ && declares($0)) {
    text = words($0)
    if (text != "" && held != "") sub(/[^ ]/, "/** " text " */ &", held)
    else if (text != "") sub(/[^ ]/, "/** " text " */ &")
  }
  if (held != "") print held
  held = head ? $0 : ""
  if (!head) {
    print
    documented = $0 ~ /^ *\/\/\// || $0 ~ /^ *requires /
  }
}

END {
  if (held != "") print held
}

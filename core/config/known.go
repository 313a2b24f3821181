package config

import (
	"slices"
	"strings"
)

// moved maps keys of the Python program to where the same setting lives here.
var moved = map[string]string{
	"context_file_max_chars":        "agent.context_file_max_chars",
	"paste_collapse_threshold":      "display.paste_collapse_threshold",
	"paste_collapse_char":           "display.paste_collapse_char",
	"paste_collapse_char_threshold": "display.paste_collapse_char",
}

// belongsToPython reports whether the Python hermes has this key in the mapping that section (a
// type name) stands for. Such keys are accepted and unused: both programs can live in one home.
// Lists come from its documentation.
func belongsToPython(section, key string) bool {
	if strings.HasPrefix(key, "_") {
		return true // its bookkeeping, _config_version
	}
	return slices.Contains(strings.Fields(pythonKeys(section)), key)
}

// pythonKeysOf are the keys of the Python program, by the section as our struct is called.
var pythonKeysOf = map[string]string{
	"Config": pythonSections,
	"MCP":    `auto_reload reload_confirm keepalive`,
	"MCPServer": `client_cert client_key ssl_verify supports_parallel_tool_calls alwaysAllow autoApprove name description
			keepalive_interval idle_timeout_seconds`,
	"MCPSampling": `model max_tool_rounds allowed_models log_level`,
	"Model": `auth_mode entra streaming ollama_num_ctx reasoning_echo openai_runtime region api key_cmd
			max_output_tokens extra_body supports_vision service_tier temperature`,
	"Provider": `name transport models_url extra_body key_cmd enabled discover_models rate_limit_delay session_affinity_header
			stale_timeout_seconds context_length max_tokens reasoning_echo auth_type ssl_verify client_cert client_key streaming
			supports_vision`,
	"ModelLimit": `name timeout_seconds stale_timeout_seconds request_timeout_seconds supports_vision max_output_tokens
			reasoning_echo extra_body`,
	"Terminal": pythonTerminal,
	"Agent":    pythonAgent,
	"Approvals": `cron_mode single_query_mode unattended_mode mcp_reload_confirm destructive_slash_confirm gateway_timeout
			smart_model denial_breaker`,
	"Display":     pythonDisplay,
	"Compression": pythonCompression,
	"Auxiliary": `web_extract skills_hub mcp triage_specifier kanban_decomposer profile_describer
			curator monitor background_review flush_memories session_search`,
	"AuxiliaryModel": `base_url api_key extra_body max_tokens fallback_providers language reasoning_effort`,
	"Web":            `extract_backend keyless_fallback keyless_rescue use_gateway search_limit`,
	"Security": `protected_instruction_files tirith tirith_enabled tirith_path tirith_timeout tirith_fail_open
			allow_lazy_installs acked_advisories`,
	"Checkpoints": `auto_prune delete_orphans min_interval_hours`,
	"Skills": `platform_disabled template_vars inline_shell inline_shell_timeout guard_agent_created config creation_nudge_interval
			enabled auto_load hub taps index_max_chars`,
	"Logging":  `max_size_mb backup_count memory_monitor format`,
	"Plugins":  "enabled disabled entries",
	"Fallback": "name api_key key_cmd extra_body max_tokens",
	"Hooks": `pre_api_request post_api_request api_request_error transform_tool_result transform_terminal_output transform_llm_output
		on_session_reset subagent_start subagent_stop pre_gateway_dispatch pre_approval_request post_approval_response pre_verify`,
}

func pythonKeys(section string) string {
	keys := pythonKeysOf[section]
	if section == "Terminal" {
		for _, k := range Kinds() {
			keys += " " + k.Python
		}
	}
	return keys
}

const (
	pythonSections = `
		custom_providers database runtime attachments
		max_concurrent_sessions max_live_sessions session session_reset context_file_read_timeout tool_loop_guardrails
		openrouter bedrock delegation
		mcp_single_query_discovery_timeout tools tool_search sessions curator cron gateway streaming network timezone
		browser dashboard privacy tts stt voice human_delay context prefill_messages_file goals loops extensions honcho slack
		discord whatsapp telegram mattermost matrix signal email sms homeassistant dingtalk feishu wecom weixin bluebubbles qqbot
		yuanbao teams google_chat line irc ntfy simplex photon raft msgraph_webhook webhook webhooks api_server platforms
		platform_toolsets known_plugin_toolsets quick_commands hooks_auto_accept personalities kanban moa lsp secrets
		onboarding model_catalog provider_routing smart_model_routing updates update profiles pets bundles x_search video_gen
		image_gen nous_tier worktree pool acp toolset_distributions group_sessions_per_user thread_sessions_per_user unauthorized_dm_behavior
		command_timeout max_turns verbose timeouts reasoning_effort enabled_toolsets disabled_toolsets desktop computer_use monitoring
		telemetry cli proxy proxy_server insights verification turn_liveness model_aliases`

	pythonAgent = `
		budget_warning_ratio run_budget_seconds gateway_timeout gateway_turn_lease_timeout agent_cache restart_drain_timeout
		cron_drain_timeout restart_after_turn_timeout build_wait_timeout empty_response_guard service_tier fast_auto_seconds
		tool_use_enforcement execution_guidance intent_ack_continuation stall_guards task_completion_guidance
		parallel_tool_call_guidance environment_probe bot_mode_protocol environment_hint coding_context coding_instructions
		verify_guidance max_verify_nudges verify_on_stop gateway_timeout_warning gateway_timeout_notify clarify_timeout
		gateway_notify_interval session_stall_timeout sanitizer_heal_escalation_threshold reconnect_attention_after
		gateway_auto_continue_freshness gateway_startup_restore_drain_timeout gateway_startup_warmup_timeout
		local_stream_stale_timeout image_input_mode disabled_toolsets reasoning_overrides reasoning_summary reasoning_echo
		turn_liveness personalities verbose prefill_messages_file save_trajectories`

	pythonTerminal = `
		modal_mode degraded_mode temp_dir font_family daemon_term_grace_seconds oneshot_completion_wait_seconds home_mode
		shell_init_files auto_source_bashrc singularity_image modal_image daytona_image vercel_runtime
		persistent_shell lifetime_seconds ssh sudo_password local_persistent scratch_dir`

	pythonDisplay = `
		interface compact personality resume_display resume_exchanges resume_max_user_chars resume_max_assistant_chars
		resume_max_assistant_lines resume_skip_tool_only busy_steer_ack_enabled cli_multiline_shortcuts tui_auto_resume_recent
		resume_last_session tui_agents_nudge bell_on_prompt reasoning_full memory_notifications background_process_notifications
		streaming timestamp_format final_response_markdown persistent_output persistent_output_max_lines
		cli_rebuild_scrollback_on_redraw persist_prompts inline_diffs file_mutation_verifier credits_notices
		turn_completion_explainer battery focus_view focus_saved_tool_progress tui_status_indicator cli_refresh_interval
		vim_mode user_message_preview interim_assistant_messages show_commentary tool_progress tool_progress_command
		tool_progress_overrides tool_preview_length tool_prefix friendly_tool_labels turn_summary spinner_token_flow
		tool_progress_grouping status_phrases reasoning_style ephemeral_system_ttl platforms runtime_footer status_bar
		statusbar tui_statusbar copy_shortcut pet details details_mode sections thinking_mode tui_compact tui_mouse
		mouse_scroll logo banner`

	pythonCompression = `
		checkpoint_required progress_notices threshold_tokens tail_mode min_tail_user_messages max_attempts
		proactive_prune_tokens proactive_prune_min_result_chars proactive_prune_min_reclaim_tokens micro_compact
		micro_compact_every_n_turns micro_compact_defrag_threshold_tokens hygiene_hard_message_limit hygiene_timeout_seconds
		hygiene_total_ceiling_seconds hygiene_failure_cooldown_seconds hygiene_max_turn_hold_seconds context_timeout_seconds
		context_total_ceiling_seconds codex_gpt55_autoraise codex_gpt55_autoraise_notice codex_app_server_auto
		codex_responses_native codex_responses_compact_threshold in_place model_thresholds idle_compact_after_seconds
		summary_model summary_provider summary_base_url`
)

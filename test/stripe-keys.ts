// The field names of the Stripe objects that we receive, as its API reference lists them. `payments` of an invoice is present only if
// it was expanded, `failure_reason` of a refund only if it failed.

const FIELDS: Record<string, string> = {
  account: `
    business_profile business_type capabilities charges_enabled company controller country created default_currency details_submitted
    email external_accounts future_requirements groups id individual metadata object payouts_enabled requirements settings tos_acceptance
    type
  `,
  account_link: `
    created expires_at object url
  `,
  "checkout.session": `
    adaptive_pricing after_expiration allow_promotion_codes amount_subtotal amount_total automatic_tax billing_address_collection
    cancel_url client_reference_id client_secret collected_information consent consent_collection created currency currency_conversion
    custom_fields custom_text customer customer_account customer_creation customer_details customer_email discounts expires_at id
    integration_identifier invoice invoice_creation livemode locale managed_payments metadata mode object origin_context
    payment_intent payment_link payment_method_collection payment_method_configuration_details payment_method_options
    payment_method_types payment_status permissions phone_number_collection recovered_from saved_payment_method_options setup_intent
    shipping_address_collection shipping_cost shipping_options status submit_type subscription success_url total_details ui_mode url
    wallet_options
  `,
  customer: `
    address balance created currency default_source delinquent description discount email id invoice_prefix invoice_settings livemode
    metadata name next_invoice_sequence object phone preferred_locales shipping tax_exempt test_clock
  `,
  invoice: `
    account_country account_name account_tax_ids amount_due amount_overpaid amount_paid amount_remaining amount_shipping application
    attempt_count attempted auto_advance automatic_tax automatically_finalizes_at billing_reason collection_method created currency
    custom_fields customer customer_account customer_address customer_email customer_name customer_phone customer_shipping
    customer_tax_exempt customer_tax_ids default_payment_method default_source default_tax_rates description discounts due_date
    effective_at ending_balance footer from_invoice hosted_invoice_url id invoice_pdf issuer last_finalization_error latest_revision
    lines livemode metadata next_payment_attempt number object on_behalf_of parent payment_settings payments period_end period_start
    post_payment_credit_notes_amount pre_payment_credit_notes_amount receipt_number rendering shipping_cost shipping_details
    starting_balance statement_descriptor status status_transitions subscription subtotal subtotal_excluding_tax test_clock total
    total_discount_amounts total_excluding_tax total_pretax_credit_amounts total_taxes webhooks_delivered_at
  `,
  invoice_payment: `
    amount_paid amount_requested created currency id invoice is_default livemode object payment status status_transitions
  `,
  payment_intent: `
    amount amount_capturable amount_details amount_received application application_fee_amount automatic_payment_methods canceled_at
    cancellation_reason capture_method client_secret confirmation_method created currency customer customer_account description
    excluded_payment_method_types id last_payment_error latest_charge livemode managed_payments metadata next_action object
    on_behalf_of payment_method payment_method_configuration_details payment_method_options payment_method_types processing
    receipt_email review setup_future_usage shipping source statement_descriptor statement_descriptor_suffix status transfer_data
    transfer_group
  `,
  payment_method_domain: `
    amazon_pay apple_pay created domain_name enabled google_pay id klarna link livemode object paypal
  `,
  refund: `
    amount balance_transaction charge created currency customer customer_account destination_details failure_reason id metadata object
    payment_intent payment_method reason receipt_number source_transfer_reversal status transfer_reversal
  `,
  subscription: `
    application application_fee_percent automatic_tax billing_cycle_anchor billing_cycle_anchor_config billing_mode billing_schedules
    billing_thresholds cancel_at cancel_at_period_end canceled_at cancellation_details collection_method created currency customer
    customer_account days_until_due default_payment_method default_source default_tax_rates description discounts ended_at id
    invoice_settings items latest_invoice livemode managed_payments metadata next_pending_invoice_item_invoice object on_behalf_of
    pause_collection payment_settings pending_invoice_item_interval pending_setup_intent pending_update schedule start_date status
    test_clock transfer_data trial_end trial_settings trial_start
  `,
  subscription_item: `
    billing_thresholds created current_period_end current_period_start discounts id metadata object plan price quantity subscription
    tax_rates
  `,
};

export const STRIPE_KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(FIELDS).map(([kind, names]) => [kind, new Set(names.trim().split(/\s+/))]),
);

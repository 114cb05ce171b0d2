"""Operations that sweeps build out of others."""
